"""What makes and checks a release."""
