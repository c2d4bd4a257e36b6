package io.millrace.cluster.documents.files;

import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocument;
import java.nio.file.Path;
import java.util.Optional;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * A process that increments a counter in a shared document, and creates and deletes another one in
 * between. It prints the number of its own increments after each successful step.
 */
final class CountingProcess {
  private static final JsonMapper JSON = new JsonMapper();

  private CountingProcess() {}

  /** Runs with the folder and the name of this process as arguments. */
  public static void main(String[] arguments) {
    try (FileDocuments documents = FileDocuments.open(Path.of(arguments[0]))) {
      String name = arguments[1];
      for (int own = 0; ; own++) {
        while (!counted(documents, name, own)) {
          Thread.onSpinWait();
        }
        System.out.println(own + 1);
        Optional<Version> made = documents.put("brief", Version.NONE, "{\"by\":\"" + name + "\"}");
        if (made.isPresent() && !documents.delete("brief", made.get())) {
          System.out.println("somebody else deleted what " + name + " had made");
        }
      }
    }
  }

  private static boolean counted(FileDocuments documents, String name, int own) {
    Optional<VersionedDocument> before = documents.get("counter");
    ObjectNode counts =
        (ObjectNode) JSON.readTree(before.map(VersionedDocument::json).orElse("{}"));
    if (counts.path(name).asInt(0) != own) {
      throw new IllegalStateException(name + " has counted to " + own + ", not as in " + counts);
    }
    counts.put(name, own + 1);
    Version version = before.map(VersionedDocument::version).orElse(Version.NONE);
    return documents.put("counter", version, counts.toString()).isPresent();
  }
}
