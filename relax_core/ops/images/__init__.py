"""Operators on images, and of object detection."""
