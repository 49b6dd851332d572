"""As published: idealised mechanisms for reproduction, and broken ones for attacks."""
