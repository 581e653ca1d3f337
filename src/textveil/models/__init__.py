"""Pretrained models: their files, and encoders that read texts of any length."""
