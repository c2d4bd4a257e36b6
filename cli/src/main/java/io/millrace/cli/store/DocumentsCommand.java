package io.millrace.cli.store;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.store.Document;
import io.millrace.store.DocumentQuery;
import io.millrace.store.TaskStore;
import io.millrace.wire.Answers;
import io.millrace.wire.DataForm;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists documents. */
@Command(name = "documents", description = "Lists the documents of a collection by key.")
final class DocumentsCommand extends TargetCommand {
  @Parameters(paramLabel = "COLLECTION", description = "The collection's name.")
  private String collection = "";

  @Option(names = "--prefix", paramLabel = "TEXT", description = "Only keys that begin so.")
  private String prefix = "";

  @Option(
      names = {"-n", "--limit"},
      paramLabel = "N",
      description = "The most documents to list; 0, the default, lists all.")
  private int limit;

  DocumentsCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  int run(TaskStore store) {
    List<Document> documents =
        store.documents(new DocumentQuery(collection, prefix, "", Math.max(0, limit))).value();
    if (json()) {
      Answers.writeDocuments(terminal().out(), documents, DataForm.TEXT);
      terminal().out().println();
    } else {
      Documents.print(terminal().out(), documents);
    }
    return ExitCode.OK;
  }
}
