"""Who orders the candidates again."""
