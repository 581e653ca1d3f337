"""Pretrained models: where their files are, and encoders that read texts of any length."""
