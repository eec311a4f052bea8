"""Tools that anonymize each release by itself: republish is compared with them."""
