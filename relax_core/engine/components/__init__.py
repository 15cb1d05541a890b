"""What the browser components are given beside their models, and what they tell: in the app and in notebooks."""
