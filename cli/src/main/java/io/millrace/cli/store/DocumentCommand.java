package io.millrace.cli.store;

import io.millrace.cli.terminal.ExitCode;
import io.millrace.cli.terminal.Terminal;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.TaskStore;
import io.millrace.wire.Answers;
import io.millrace.wire.DataForm;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows a document. */
@Command(name = "document", description = "Shows a document; exits with 4 when it is not there.")
final class DocumentCommand extends TargetCommand {
  @Parameters(index = "0", paramLabel = "COLLECTION", description = "Its collection.")
  private String collection = "";

  @Parameters(index = "1", paramLabel = "KEY", description = "Its key.")
  private String key = "";

  @Option(names = "--raw", description = "Writes only the body, byte for byte.")
  private boolean raw;

  DocumentCommand(Terminal terminal) {
    super(terminal);
  }

  @Override
  int run(TaskStore store) {
    DocumentKey name = new DocumentKey(collection, key);
    Optional<Document> found = store.document(name).value();
    if (found.isEmpty()) {
      terminal().err().println("millrace: " + name + " is not there");
      return ExitCode.NOTHING;
    }
    if (raw) {
      terminal().out().writeBytes(found.get().body().toArray());
    } else if (json()) {
      printJson(Answers.write(found.get(), DataForm.TEXT));
    } else {
      Documents.print(terminal().out(), List.of(found.get()));
    }
    return ExitCode.OK;
  }
}
