"""What is true by definition, computed the slow way and without any code of the library."""


def distance(a, b):
    return bin(a ^ b).count("1")  # noqa: FURB161 - the library counts bits the other way


def scan(pairs, query, max_distance):
    """All (row, fingerprint, distance) within the distance, nearest first, then by row."""
    found = [(row, stored, distance(stored, query)) for stored, row in pairs]
    near = [match for match in found if match[2] <= max_distance]
    return sorted(near, key=lambda match: (match[2], match[0], match[1]))
