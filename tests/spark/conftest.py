"""A Spark of two threads in this process, for all tests of a module tree."""

import pytest
from gate import program


@pytest.fixture(scope="session")
def java():
    return program("java", package="default-jre-headless")


HERE = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.ui.enabled": "false",
}
"""Of a short life on this machine; what is done with data is as users have it."""
FOR_LITTLE_DATA = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.testing": "true",
    "spark.testing.memory": str(2**31),
    "spark.ui.showConsoleProgress": "false",
}
"""Nothing is compiled that runs once.

Spark interprets expressions only in tests of its own, and a test of its own must name its memory.
"""


@pytest.fixture
def of_short_life(java, monkeypatch):
    """Let the session of a command have a short life here."""
    given = (f"--conf '{name}={value}'" for name, value in HERE.items())
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"{' '.join(given)} pyspark-shell")


@pytest.fixture(scope="session")
def spark(java):
    pytest.importorskip("pyspark")
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]").config(map=HERE | FOR_LITTLE_DATA).getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
