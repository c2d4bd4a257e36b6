package io.millrace.http.events;

import io.millrace.http.json.Json;
import io.millrace.http.websocket.WebSocket;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.StringNode;

/**
 * A stream of events over a WebSocket. An event with a name becomes the text message {@code
 * {"event": name, "id": id or null, "data": data}}; for an event without a name, the message is
 * only the data.
 */
final class EventSocket implements EventStream.Target, WebSocket.Listener {
  /** Small limits, because the client should send nothing. */
  static final WebSocket.Limits LIMITS = new WebSocket.Limits(1 << 10, 1 << 10, 1 << 10);

  private static final Logger LOG = LoggerFactory.getLogger(EventSocket.class);

  /** The close code if events were lost, from the range for private use. */
  private static final int LOST = 4410;

  private static final int UNSUPPORTED = 1003;
  private static final int INTERNAL_ERROR = 1011;

  private final WebSocket socket;
  private volatile boolean over;

  private EventSocket(WebSocket socket) {
    this.socket = socket;
  }

  /** Starts the stream on a new thread, which closes the source at the end. */
  static WebSocket.Listener open(WebSocket socket, EventStream stream, EventStream.Source source) {
    EventSocket target = new EventSocket(socket);
    Thread.ofVirtual().name("event-socket").start(() -> target.run(stream, source));
    return target;
  }

  private void run(EventStream stream, EventStream.Source source) {
    try (source) {
      stream.run(source, this, () -> over);
    } catch (InterruptedException _) {
      over = true;
    } catch (IOException | RuntimeException | Error e) {
      LOG.warn("a stream of events ended", e);
      socket.close(INTERNAL_ERROR, "internal error, see the log of the server");
    }
  }

  @Override
  public void event(@Nullable String name, @Nullable String id, EventStream.Data data)
      throws IOException {
    ByteArrayOutputStream message = new ByteArrayOutputStream();
    if (name == null) {
      data.writeTo(message);
    } else {
      message.writeBytes(bytes("{\"event\":" + quoted(name) + ",\"id\":" + quoted(id)));
      message.writeBytes(bytes(",\"data\":"));
      data.writeTo(message);
      message.write('}');
    }
    socket.text(message.toString(StandardCharsets.UTF_8));
  }

  private static String quoted(@Nullable String text) {
    return text == null ? "null" : Json.MAPPER.writeValueAsString(StringNode.valueOf(text));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public void keepAlive() {
    socket.ping();
  }

  @Override
  public void flush() {
    // Messages are sent at once.
  }

  @Override
  public void lost(String reason, byte[] data) {
    socket.close(LOST, reason);
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
    // The connection detects a lost client itself.
  }

  private void refuse() {
    socket.close(UNSUPPORTED, "this stream takes no messages; close it to unsubscribe");
  }

  @Override
  public void closed(int code, String reason) {
    over = true;
  }
}
