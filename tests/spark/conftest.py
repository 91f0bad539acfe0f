"""A Spark of two threads in this process, for all tests of a module tree."""

import pytest
from gate import program

SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.testing": "true",
    "spark.testing.memory": str(2**31),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""For little data: nothing is compiled that runs once.

Spark interprets expressions only in tests of its own, and a test of its own must name its memory.
"""


@pytest.fixture(scope="session")
def java():
    return program("java", package="default-jre-headless")


@pytest.fixture(scope="session")
def spark(java):
    pytest.importorskip("pyspark")
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config(map=SETTINGS).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture
def of_processes(java, tmp_path, monkeypatch):
    """Have the settings hold for a Spark in a process of its own, too."""
    folder = tmp_path / "conf"
    folder.mkdir()
    given = "".join(f"{name} {value}\n" for name, value in SETTINGS.items())
    (folder / "spark-defaults.conf").write_text(given)
    monkeypatch.setenv("SPARK_CONF_DIR", str(folder))
