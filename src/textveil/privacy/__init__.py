"""What is promised: profiles, outcomes and the certificate."""
