package io.millrace.server.jobs;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A worker over a real WebSocket, which answers each payload with its bytes in reverse. With some
 * mischief it fails, disconnects, or sends garbage instead, and then connects again.
 */
final class RealWorker implements AutoCloseable {
  private final HttpClient client;
  private final URI address;
  private final String id;
  private final Random random;
  private final int mischief;
  private final ExecutorService work =
      Executors.newSingleThreadExecutor(Thread.ofVirtual().factory());
  private final AtomicBoolean over = new AtomicBoolean();
  private volatile @Nullable WebSocket socket;

  /** How often each payload was answered with a result, over all workers. */
  private final ConcurrentHashMap<String, Integer> results;

  RealWorker(
      HttpClient client,
      URI address,
      String id,
      int mischief,
      ConcurrentHashMap<String, Integer> results) {
    this.client = client;
    this.address = address;
    this.id = id;
    this.random = new Random(id.hashCode());
    this.mischief = mischief;
    this.results = results;
    connect();
  }

  private void connect() {
    if (over.get()) {
      return;
    }
    var _ =
        client
            .newWebSocketBuilder()
            .buildAsync(address, new Line())
            .exceptionally(_ -> {
              // The server may be about to start again.
              CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS).execute(this::connect);
              return null;
            });
  }

  private void again() {
    var _ = CompletableFuture.runAsync(this::connect);
  }

  @Override
  public void close() {
    over.set(true);
    WebSocket now = socket;
    if (now != null) {
      now.abort();
    }
    work.shutdownNow();
  }

  /** One connection. */
  private final class Line implements WebSocket.Listener {
    private final StringBuilder text = new StringBuilder();
    private byte[] payload = new byte[0];

    @Override
    public void onOpen(WebSocket opened) {
      socket = opened;
      say(opened, "{\"code\":0,\"name\":\"" + id + "\",\"id\":\"" + id + "\",\"token\":\"\"}");
      opened.request(1);
    }

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket on, CharSequence data, boolean last) {
      text.append(data);
      if (last) {
        if (text.toString().contains("\"code\":2")) {
          say(on, "{\"code\":1,\"status\":1}");
        }
        text.setLength(0);
      }
      on.request(1);
      return null;
    }

    @Override
    public @Nullable CompletionStage<?> onBinary(WebSocket on, ByteBuffer data, boolean last) {
      byte[] next = Arrays.copyOf(payload, payload.length + data.remaining());
      data.get(next, payload.length, data.remaining());
      payload = next;
      if (last) {
        byte[] whole = payload;
        payload = new byte[0];
        work.execute(() -> answer(on, whole));
      }
      on.request(1);
      return null;
    }

    private void answer(WebSocket on, byte[] whole) {
      int dice = random.nextInt(100);
      if (dice < mischief) {
        switch (dice % 4) {
          case 0 -> say(on, "{\"code\":4,\"info\":\"no luck\",\"logs\":null}");
          case 1 -> say(on, "{\"code\":3,\"percent\":null,\"info\":null}");
          case 2 -> say(on, "garbage");
          default -> {
            on.abort();
            again();
          }
        }
        return;
      }
      say(on, "{\"code\":3,\"percent\":50.0,\"info\":\"half\"}");
      byte[] reversed = new byte[whole.length];
      for (int i = 0; i < whole.length; i++) {
        reversed[i] = whole[whole.length - 1 - i];
      }
      results.merge(new String(whole, StandardCharsets.UTF_8), 1, Integer::sum);
      send(() -> on.sendBinary(ByteBuffer.wrap(reversed), true).join());
    }

    private void say(WebSocket on, String message) {
      work.execute(() -> send(() -> on.sendText(message, true).join()));
    }

    /** What cannot be sent any more shows as the end of the connection. */
    private void send(Runnable sending) {
      try {
        sending.run();
      } catch (CompletionException | IllegalStateException _) {
        // onError or onClose tells.
      }
    }

    @Override
    public @Nullable CompletionStage<?> onClose(WebSocket on, int status, String reason) {
      again();
      return null;
    }

    @Override
    public void onError(WebSocket on, Throwable error) {
      again();
    }
  }
}
