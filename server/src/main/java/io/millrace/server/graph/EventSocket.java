package io.millrace.server.graph;

import io.millrace.http.EventStream;
import io.millrace.http.json.Json;
import io.millrace.http.websocket.WebSocket;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A stream of events as text messages of a WebSocket, which hold the data alone. */
final class EventSocket implements EventStream.Target, WebSocket.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(EventSocket.class);

  /** Closed so when changes were lost: a code of ours. */
  private static final int LOST = 4410;

  private static final int UNSUPPORTED = 1003;
  private static final int INTERNAL_ERROR = 1011;

  private final WebSocket socket;
  private volatile boolean over;

  private EventSocket(WebSocket socket) {
    this.socket = socket;
  }

  /** Begins to tell what happens, on a thread of its own. */
  static WebSocket.Listener open(WebSocket socket, EventStream stream) {
    EventSocket target = new EventSocket(socket);
    Thread.ofVirtual().name("graph-events").start(() -> target.run(stream));
    return target;
  }

  private void run(EventStream stream) {
    try {
      stream.run(this, () -> over);
    } catch (InterruptedException _) {
      over = true;
    } catch (IOException | RuntimeException | Error e) {
      LOG.warn("a stream of changes ended", e);
      socket.close(INTERNAL_ERROR, "the server made a mistake, its log says which");
    }
  }

  @Override
  public void event(@Nullable String name, @Nullable String id, EventStream.Data data)
      throws IOException {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    data.writeTo(text);
    socket.text(text.toString(StandardCharsets.UTF_8));
  }

  @Override
  public void keepAlive() {
    socket.ping();
  }

  @Override
  public void flush() {
    // Messages leave at once.
  }

  @Override
  public void lost(byte[] data) {
    socket.close(LOST, Json.MAPPER.readTree(data).path("reason").asString());
  }

  @Override
  public void text(String text) {
    refuse();
  }

  @Override
  public void binary(InputStream message) {
    refuse();
  }

  @Override
  public void alive() {
    // The connection looks after itself.
  }

  private void refuse() {
    socket.close(UNSUPPORTED, "this only tells; close it to unsubscribe");
  }

  @Override
  public void closed(int code, String reason) {
    over = true;
  }
}
