"""What raters are owed and were paid."""
