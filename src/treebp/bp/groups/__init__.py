"""Groups: many factors of one kind in flat arrays, which send all their messages in one call."""
