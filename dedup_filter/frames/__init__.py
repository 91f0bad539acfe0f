"""What on a page of a host is only its frame."""
