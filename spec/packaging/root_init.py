"""What rotary position embedding (RoPE) is, exactly, and whether yours is right."""
