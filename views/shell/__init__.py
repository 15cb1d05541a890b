"""What stands around every page: frame, navigation, failures, headers of answers."""
