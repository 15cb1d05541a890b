"""Identities of linear algebra, used where they make a program cheaper."""
