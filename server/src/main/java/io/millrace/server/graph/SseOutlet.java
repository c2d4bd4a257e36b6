package io.millrace.server.graph;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.ObjectWriter;

/** Server-sent events; the id of each is the version of the graph. */
final class SseOutlet implements EventOutlet {
  /** Flushing is the feed's business: a generator per message must not do it. */
  private static final ObjectWriter WRITER =
      Json.MAPPER.writer().without(StreamWriteFeature.FLUSH_PASSED_TO_STREAM);

  private final OutputStream target;

  SseOutlet(OutputStream target) {
    this.target = target;
  }

  @Override
  public void message(long version, Consumer<JsonGenerator> content) throws IOException {
    write("id: " + version + "\ndata: ");
    try (JsonGenerator json = WRITER.createGenerator(target)) {
      content.accept(json);
    }
    write("\n\n");
  }

  @Override
  public void sign() throws IOException {
    write(": alive\n\n");
  }

  @Override
  public void flush() throws IOException {
    target.flush();
  }

  @Override
  public void lost(String reason) throws IOException {
    write("event: lost\ndata: " + Json.object().put("reason", reason) + "\n\n");
    flush();
  }

  private void write(String text) throws IOException {
    target.write(text.getBytes(StandardCharsets.UTF_8));
  }
}
