"""Layer "workers": other processes that read pages; they keep nothing."""
