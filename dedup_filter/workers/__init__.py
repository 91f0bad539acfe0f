"""Reading and measuring pages, nine tenths of the work of judging them, here or in processes."""
