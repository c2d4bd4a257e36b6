package io.millrace.cli.store;

import io.millrace.cli.terminal.Table;
import io.millrace.store.Document;
import java.io.PrintStream;
import java.util.List;

/** Documents as people read them. */
final class Documents {
  private Documents() {}

  static void print(PrintStream out, List<Document> documents) {
    Table table = new Table("COLLECTION", "KEY", "VERSION", "BODY");
    for (Document document : documents) {
      table.row(
          document.key().collection(),
          document.key().key(),
          document.version(),
          Tasks.shown(document.body()));
    }
    table.print(out);
  }
}
