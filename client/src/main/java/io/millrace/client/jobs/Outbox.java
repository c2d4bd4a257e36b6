package io.millrace.client.jobs;

import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Sends the messages of a connection from a queue with one thread, since nothing may come between
 * the fragments of a result. docs/jobs.md describes the codes. Thread-safe.
 */
final class Outbox {
  static final JsonMapper MAPPER = new JsonMapper();
  private static final int FRAGMENT_BYTES = 128 << 10;
  private static final int MAX_INFO = 1_000;
  private static final int MAX_LOGS = 64_000;

  private final WebSocket socket;
  private final Side side;
  private final Deque<Message> queue = new ArrayDeque<>();
  private boolean stopped;

  /** A message to the server. */
  sealed interface Message {}

  /** Code 0: registers the worker. The number of jobs in it requests code 5 before each payload. */
  record Register(String text) implements Message {
    /** Created before the connection, since the server does not wait long for it. */
    static Register of(JobWorkerOptions.Identity identity, int jobs) {
      return new Register(
          message(0)
              .put("name", sound(identity.name()))
              .put("id", sound(identity.id()))
              .put("token", sound(identity.token()))
              .put("jobs", jobs)
              .toString());
    }
  }

  /** Code 1: whether the worker is ready when this is sent, after all earlier results. */
  record Status() implements Message {}

  /** Code 3: the progress of a job; a later report replaces one that has not been sent. */
  record Progress(JobContext job, @Nullable Double percent, @Nullable String info)
      implements Message {}

  /** How a job ended. */
  sealed interface Outcome extends Message {
    JobContext job();
  }

  /** Code 6, followed by the bytes: the result. */
  record Result(JobContext job, JobResult.Ready bytes) implements Outcome {}

  /** Code 4: the job failed or was withdrawn. */
  record Failed(
      JobContext job,
      @Nullable String info,
      @Nullable String logs,
      @Nullable JobFailedException wish)
      implements Outcome {}

  /** The end of the connection. */
  record Close(String reason) implements Message {}

  /** The connection, as the outbox needs it. */
  interface Side {
    /** Whether the worker takes another job now. */
    boolean isReady();

    /** Called when bytes were sent: the connection works. */
    void signOfLife();

    /** Called when the outcome of a job has been sent or never will be. */
    void done(Outcome outcome);

    /** Called when nothing can be sent any more. */
    void broken(Exception failure);
  }

  Outbox(WebSocket socket, Side side) {
    this.socket = socket;
    this.side = side;
  }

  void start() {
    Thread.ofPlatform().daemon().name("millrace-job-send").start(this::run);
  }

  /** Adds a message; false if it can no longer be sent. */
  synchronized boolean add(Message next) {
    if (stopped) {
      return false;
    }
    if (next instanceof Progress progress) {
      queue.removeIf(other -> other instanceof Progress old && old.job() == progress.job());
    }
    queue.add(next);
    notifyAll();
    return true;
  }

  /** Sends nothing more. */
  void stop() {
    List<Message> left;
    synchronized (this) {
      stopped = true;
      left = new ArrayList<>(queue);
      queue.clear();
      notifyAll();
    }
    for (Message each : left) {
      if (each instanceof Outcome outcome) {
        side.done(outcome);
      }
    }
  }

  private synchronized @Nullable Message take() throws InterruptedException {
    while (queue.isEmpty() && !stopped) {
      wait();
    }
    return queue.poll();
  }

  private void run() {
    try {
      for (Message next = take(); next != null; next = take()) {
        send(next);
      }
    } catch (IOException | RuntimeException e) {
      side.broken(e);
    } catch (Error e) {
      side.broken(new IOException("nothing can be sent: " + e, e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      side.broken(e);
    }
  }

  private void send(Message next) throws IOException {
    switch (next) {
      case Register(String text) -> send(text);
      case Status() -> send(message(1).put("status", side.isReady() ? 1 : 0));
      case Progress(JobContext job, Double percent, String info) ->
          send(about(3, job).put("percent", percent).put("info", start(info)));
      case Outcome outcome -> {
        try {
          sendOutcome(outcome);
        } finally {
          side.done(outcome);
        }
      }
      case Close(String reason) -> socket.sendClose(WebSocket.NORMAL_CLOSURE, reason).join();
    }
  }

  private void sendOutcome(Outcome outcome) throws IOException {
    switch (outcome) {
      case Failed(JobContext job, String info, String logs, JobFailedException wish) -> {
        ObjectNode message = about(4, job).put("info", start(info)).put("logs", end(logs));
        if (wish != null && wish.code() != null) {
          message.put("failureCode", wish.code());
        }
        if (wish != null && wish.delay() != null) {
          BigDecimal seconds = BigDecimal.valueOf(wish.delay().toMillis(), 3);
          message.put(wish.isSnooze() ? "snooze" : "retryAfter", seconds);
        }
        send(message);
      }
      case Result(JobContext job, JobResult.Ready result) -> {
        try (InputStream bytes = result.open()) {
          if (!job.id().isEmpty()) {
            send(about(6, job));
          }
          sendAll(bytes);
        }
      }
    }
  }

  private void sendAll(InputStream bytes) throws IOException {
    byte[] buffer = new byte[FRAGMENT_BYTES];
    int count;
    do {
      count = bytes.readNBytes(buffer, 0, buffer.length);
      socket.sendBinary(ByteBuffer.wrap(buffer, 0, count), count < buffer.length).join();
      side.signOfLife();
    } while (count == buffer.length);
  }

  private void send(ObjectNode message) {
    send(message.toString());
  }

  private void send(String text) {
    socket.sendText(text, true).join();
    side.signOfLife();
  }

  private static ObjectNode message(int code) {
    return MAPPER.createObjectNode().put("code", code);
  }

  /**
   * Without the id if the server does not announce jobs, since it does not know their ids either.
   */
  private static ObjectNode about(int code, JobContext job) {
    return job.id().isEmpty() ? message(code) : message(code).put("job", job.id());
  }

  private static @Nullable String start(@Nullable String info) {
    return info == null ? null : sound(info.substring(0, Math.min(info.length(), MAX_INFO)));
  }

  private static @Nullable String end(@Nullable String logs) {
    return logs == null ? null : sound(logs.substring(Math.max(0, logs.length() - MAX_LOGS)));
  }

  /** Halves of surrogate pairs, which no message can carry, become question marks. */
  private static String sound(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }
}
