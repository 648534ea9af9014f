"""Speech and made images: transcription, translation, text to speech, image generation."""
