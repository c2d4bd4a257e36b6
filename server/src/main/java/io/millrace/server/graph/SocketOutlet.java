package io.millrace.server.graph;

import io.millrace.server.websocket.WebSocket;
import io.millrace.server.websocket.WebSocketListener;
import io.millrace.store.StoreClosedException;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JsonGenerator;

/** Text messages of a WebSocket. */
final class SocketOutlet implements EventOutlet, WebSocketListener {
  private static final Logger LOG = LoggerFactory.getLogger(SocketOutlet.class);

  /** Closed so when changes were lost: a code of ours. */
  private static final int LOST = 4410;

  private static final int UNSUPPORTED = 1003;
  private static final int INTERNAL_ERROR = 1011;

  private final WebSocket socket;
  private volatile boolean over;

  private SocketOutlet(WebSocket socket) {
    this.socket = socket;
  }

  /** Begins to tell what happens, on a thread of its own. */
  static WebSocketListener open(WebSocket socket, EventFeed feed) {
    SocketOutlet outlet = new SocketOutlet(socket);
    Thread.ofVirtual().name("graph-events").start(() -> outlet.run(feed));
    return outlet;
  }

  private void run(EventFeed feed) {
    try {
      feed.run(this, () -> over);
    } catch (InterruptedException | StoreClosedException _) {
      over = true;
    } catch (IOException | RuntimeException | Error e) {
      LOG.warn("a stream of changes ended", e);
      socket.close(INTERNAL_ERROR, "the server made a mistake, its log says which");
    }
  }

  @Override
  public void message(long version, Consumer<JsonGenerator> content) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = Json.MAPPER.createGenerator(text)) {
      content.accept(json);
    }
    socket.text(text.toString());
  }

  @Override
  public void sign() {
    socket.ping();
  }

  @Override
  public void flush() {
    // Messages leave at once.
  }

  @Override
  public void lost(String reason) {
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

  private void refuse() {
    socket.close(UNSUPPORTED, "this only tells; close it to unsubscribe");
  }

  @Override
  public void alive() {
    // The connection looks after itself.
  }

  @Override
  public void closed(int code, String reason) {
    over = true;
  }
}
