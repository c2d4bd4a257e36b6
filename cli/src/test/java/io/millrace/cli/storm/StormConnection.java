package io.millrace.cli.storm;

import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** One connection of a worker. */
final class StormConnection implements WebSocket.Listener {
  private static final String UNKNOWN = "{\"code\":99}";
  private static final String READY = "{\"code\":1,\"status\":1}";
  private static final String BUSY = "{\"code\":1,\"status\":0}";
  private static final String FAILED = "{\"code\":4,\"info\":\"no luck\",\"logs\":null%s}";

  /** Longer than it takes until a silent job is taken back. */
  private static final Executor LATER =
      CompletableFuture.delayedExecutor(2_500, TimeUnit.MILLISECONDS);

  private final StormWorker worker;
  private final Transcript transcript;
  private final AtomicBoolean ended = new AtomicBoolean();
  private final AtomicInteger silent = new AtomicInteger();
  private final AtomicInteger busy = new AtomicInteger();
  private final StringBuilder text = new StringBuilder();
  private final StringBuilder payload = new StringBuilder();

  /** The GUID that was announced with the next payload; empty for a worker of one job. */
  private String announced = "";

  /** What was sent last; the next is sent after it. */
  private CompletableFuture<?> sent = CompletableFuture.completedFuture(null);

  StormConnection(StormWorker worker) {
    this.worker = worker;
    this.transcript = new Transcript(worker.capacity());
  }

  Transcript transcript() {
    return transcript;
  }

  @Override
  public void onOpen(WebSocket socket) {
    if (!worker.opened(socket)) {
      socket.abort();
      return;
    }
    say(
        socket,
        "{\"code\":0,\"name\":\"storm\",\"id\":\"%s\",\"token\":\"\",\"jobs\":%d}"
            .formatted(worker.id(), worker.capacity()));
    socket.request(1);
  }

  @Override
  public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
    text.append(data);
    if (last) {
      hear(socket, JsonMapper.shared().readTree(text.toString()));
      text.setLength(0);
    }
    socket.request(1);
    return null;
  }

  private void hear(WebSocket socket, JsonNode message) {
    switch (message.path("code").asInt()) {
      case 2 -> {
        if (message.has("refused")) {
          transcript.refused(message.path("refused").asString());
        }
        if (silent.get() == 0) {
          say(socket, busy.get() > 0 ? BUSY : READY);
        }
      }
      case 5 -> announced = message.path("job").asString();
      default -> throw new AssertionError("the server says " + message);
    }
  }

  @Override
  public @Nullable CompletionStage<?> onBinary(WebSocket socket, ByteBuffer data, boolean last) {
    payload.append(StandardCharsets.US_ASCII.decode(data));
    if (last) {
      transcript.given();
      answer(socket, new Given(payload.toString(), announced));
      payload.setLength(0);
      announced = "";
    }
    socket.request(1);
    return null;
  }

  /** A job that the worker has. */
  private record Given(String payload, String id) {
    /** The field with the id of the job of a message. */
    String field() {
      return id.isEmpty() ? "" : ",\"job\":\"" + id + "\"";
    }
  }

  private void answer(WebSocket socket, Given job) {
    switch (worker.nextDeed()) {
      case RESULT -> result(socket, job);
      case RESULT_AFTER_PROGRESS -> {
        say(socket, "{\"code\":3,\"percent\":50.0,\"info\":null%s}".formatted(job.field()));
        result(socket, job);
      }
      case RESULT_AFTER_LONG_WORK -> later(busy, () -> result(socket, job));
      case FAILURE -> say(socket, FAILED.formatted(job.field()));
      case LATE_RESULT -> later(silent, () -> result(socket, job));
      case FORGET ->
          later(
              silent,
              () -> say(socket, job.id().isEmpty() ? READY : FAILED.formatted(job.field())));
      case STALL_AND_LEAVE -> later(silent, () -> leave(socket));
      case LEAVE -> leave(socket);
      case RESULT_AND_LEAVE -> {
        result(socket, job);
        afterSending(() -> leave(socket));
      }
      case HALF_A_RESULT_AND_LEAVE -> {
        announce(socket, job);
        send(() -> socket.sendBinary(ByteBuffer.wrap(new byte[] {'x'}), false));
        afterSending(() -> leave(socket));
      }
      case GARBAGE -> {
        String garbage = garbage();
        say(socket, garbage);
        if (garbage.equals(UNKNOWN)) {
          // The server passes it over, so the worker still has the job.
          result(socket, job);
        }
      }
    }
  }

  private static void later(AtomicInteger manner, Runnable deed) {
    manner.incrementAndGet();
    LATER.execute(() -> {
      manner.decrementAndGet();
      deed.run();
    });
  }

  private static String garbage() {
    return switch ((int) (StormWorker.newAttempt() % 4)) {
      case 0 -> "garbage";
      case 1 -> "{\"code\":3,\"percent\":null,\"info\":null}";
      case 2 -> UNKNOWN;
      default -> "{\"code\":6,\"job\":\"00000000-0000-0000-0000-000000000000\"}";
    };
  }

  private void announce(WebSocket socket, Given job) {
    if (!job.id().isEmpty()) {
      say(socket, "{\"code\":6" + job.field() + "}");
    }
  }

  private synchronized void result(WebSocket socket, Given job) {
    long attempt = StormWorker.newAttempt();
    byte[] bytes = Payloads.result(job.payload(), attempt);
    transcript.result(Payloads.keyOf(job.payload()), attempt);
    announce(socket, job);
    send(() -> socket.sendBinary(ByteBuffer.wrap(bytes), true));
  }

  private void say(WebSocket socket, String message) {
    send(() -> socket.sendText(message, true));
  }

  /** Sends after what was sent before; what cannot be sent shows as the end of the connection. */
  private synchronized void send(Supplier<CompletableFuture<WebSocket>> sending) {
    sent = sent.thenCompose(_ -> sending.get());
  }

  private synchronized void afterSending(Runnable action) {
    var _ = sent.whenComplete((_, _) -> action.run());
  }

  private void leave(WebSocket socket) {
    socket.abort();
    end();
  }

  private void end() {
    if (ended.compareAndSet(false, true)) {
      worker.again();
    }
  }

  @Override
  public @Nullable CompletionStage<?> onClose(WebSocket socket, int status, String reason) {
    end();
    return null;
  }

  @Override
  public void onError(WebSocket socket, Throwable error) {
    end();
  }
}
