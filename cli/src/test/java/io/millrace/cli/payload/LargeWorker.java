package io.millrace.cli.payload;

import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** A worker that computes the checksum of a payload as it arrives, and returns it as the result. */
final class LargeWorker implements WebSocket.Listener {
  private final CRC32C sum = new CRC32C();
  private final CompletableFuture<Long> payload = new CompletableFuture<>();
  private final CompletableFuture<String> closed = new CompletableFuture<>();
  private final WebSocket socket;

  LargeWorker(HttpClient client, URI address) {
    socket = client.newWebSocketBuilder().buildAsync(address, this).join();
    socket.sendText("{\"code\":0,\"name\":\"l\",\"id\":\"l\",\"token\":\"\"}", true).join();
    socket.sendText("{\"code\":1,\"status\":1}", true).join();
  }

  @Override
  public @Nullable CompletionStage<?> onBinary(WebSocket on, ByteBuffer data, boolean last) {
    sum.update(data);
    if (last) {
      payload.complete(sum.getValue());
    }
    on.request(1);
    return null;
  }

  @Override
  public @Nullable CompletionStage<?> onClose(WebSocket on, int code, String reason) {
    closed.complete(code + " " + reason);
    return null;
  }

  /** The checksum of the payload, once it is there. */
  long payloadChecksum() {
    return payload.join();
  }

  /** Sends a result in fragments of this size. */
  void send(InputStream result, int fragmentBytes) throws java.io.IOException {
    byte[] next = result.readNBytes(fragmentBytes);
    boolean last;
    do {
      byte[] fragment = next;
      next = result.readNBytes(fragmentBytes);
      last = next.length == 0;
      socket.sendBinary(ByteBuffer.wrap(fragment), last).join();
    } while (!last);
  }

  /** With what the server has closed, once it has. */
  String closed() {
    return closed.join();
  }

  void leave() {
    socket.abort();
  }
}
