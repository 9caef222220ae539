"""The answer that counts where raters differ."""
