package io.millrace.mongo;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.ChunkedBlob;
import io.millrace.blobs.Tail;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Output;
import io.millrace.queues.Output.OutputFile;
import io.millrace.queues.Run;
import io.millrace.queues.Run.Report;
import io.millrace.queues.Status;
import io.millrace.store.Sha256;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * The outputs of a report as the fields {@code stdout} and {@code stderr} of its task: texts, or
 * the ids of files, which are stored when the fields are asked for. For use by one thread.
 */
final class OutputFields {
  private static final List<String> STREAMS = List.of("stdout", "stderr");

  private final GridFiles files;
  private final @Nullable BlobStore blobs;
  private final Run run;
  private final Report report;
  private final List<ObjectId> stored = new ArrayList<>();
  private @Nullable Document text;

  /**
   * The outputs of a report on a run.
   *
   * @param blobs has the content of files until they are stored; null for none
   */
  OutputFields(GridFiles files, @Nullable BlobStore blobs, Run run, Report report) {
    this.files = files;
    this.blobs = blobs;
    this.run = run;
    this.report = report;
  }

  boolean isEmpty() {
    return asText().get("stdout") == null && asText().get("stderr") == null;
  }

  /** Whether a task has these outputs, as text or as files. */
  boolean describes(Document document) {
    return STREAMS.stream()
        .allMatch(stream ->
            Objects.equals(document.get(stream), asText().get(stream))
                || fileOfText(stream).equals(document.get(stream)));
  }

  /** The fields, with a file only for what the report has as a file that is not shown as text. */
  Document asText() {
    Document made = text;
    if (made == null) {
      made =
          new Document("stdout", field("stdout", report.output().stdout(), ""))
              .append("stderr", field("stderr", report.output().stderr(), reason()));
      text = made;
    }
    return made;
  }

  /** The same with every output in a file. */
  Document asFiles() {
    Document made = new Document();
    for (String stream : STREAMS) {
      Object value = asText().get(stream);
      made.append(
          stream,
          value instanceof String output && !output.isEmpty()
              ? store(fileOfText(stream), stream, Tail.of(output))
              : value);
    }
    return made;
  }

  /** Deletes the files that were stored. */
  void deleteFiles() {
    files.delete(stored);
  }

  /** The id of a file with a text, the same whenever the end of this run is repeated. */
  private org.bson.types.ObjectId fileOfText(String stream) {
    String name = "%s of %s, %d".formatted(stream, run.task(), run.claim().token());
    return new org.bson.types.ObjectId(Sha256.hex(name).substring(0, 24));
  }

  private String reason() {
    return report.reason() == null || report.status() < Status.RUNNING
        ? ""
        : report.reason() + "\n";
  }

  private @Nullable Object field(String stream, Output output, String after) {
    return switch (output) {
      case Output.None() -> after.isEmpty() ? null : after;
      case Output.Text(String said) ->
          after.isEmpty() || said.isEmpty() || said.endsWith("\n")
              ? said + after
              : said + "\n" + after;
      case Output.Stored file -> {
        Tail content = content(file);
        yield file.shownAsText()
            ? new String(content.read(0, (int) file.sizeBytes()), StandardCharsets.UTF_8) + after
            : store(BsonForm.id(file.file()), stream, content);
      }
    };
  }

  private Tail content(Output.Stored output) {
    for (OutputFile file : report.files()) {
      if (file.id().equals(output.file()) && blobs != null) {
        return new ChunkedBlob(blobs, file.chunkPrefix(), OutputFile.CHUNK_BYTES);
      }
    }
    return Tail.of("");
  }

  private org.bson.types.ObjectId store(org.bson.types.ObjectId id, String stream, Tail content) {
    files.store(BsonForm.id(id), run.task(), stream, content.open(0));
    stored.add(BsonForm.id(id));
    return id;
  }
}
