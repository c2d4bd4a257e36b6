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
 * Sends the messages of a connection from a queue. One thread sends them all, because nothing may
 * come between the fragments of a result. docs/jobs.md describes the codes. Thread-safe.
 */
final class Outbox {
  static final JsonMapper MAPPER = new JsonMapper();
  private static final int FRAGMENT_BYTES = 128 << 10;
  private static final int MAX_INFO = 1_000;
  private static final int MAX_LOGS = 64_000;

  private final WebSocket socket;
  private final Callbacks callbacks;
  private final Deque<Message> queue = new ArrayDeque<>();
  private boolean stopped;

  /** A message to the server. */
  sealed interface Message {}

  /**
   * Code 0: registers the worker. Because the message names the number of jobs, the server sends
   * code 5 before each payload.
   */
  record Register(String text) implements Message {
    /** Created before the connection, because the server waits only a short time for it. */
    static Register of(JobWorkerOptions.Identity identity, int jobs) {
      return new Register(
          message(0)
              .put("name", wellFormed(identity.name()))
              .put("id", wellFormed(identity.id()))
              .put("token", wellFormed(identity.token()))
              .put("jobs", jobs)
              .toString());
    }
  }

  /** Code 1: whether the worker is ready. Determined when it is sent, after all earlier results. */
  record Status() implements Message {}

  /** Code 3: the progress of a job. It replaces an earlier report that has not been sent. */
  record Progress(ReceivedJob job, @Nullable Double percent, @Nullable String info)
      implements Message {}

  /** How a job ended. */
  sealed interface Outcome extends Message {
    ReceivedJob job();
  }

  /** Code 6, followed by the bytes of the result. */
  record Result(ReceivedJob job, JobResult.Content bytes) implements Outcome {}

  /**
   * Code 4: the job failed or was withdrawn.
   *
   * @param cause the exception with a code or a delay; null for none
   */
  record Failed(
      ReceivedJob job,
      @Nullable String info,
      @Nullable String logs,
      @Nullable JobFailedException cause)
      implements Outcome {}

  /** The end of the connection. */
  record Close(String reason) implements Message {}

  /** What an outbox needs of its connection. */
  interface Callbacks {
    /** Whether the worker takes another job now. */
    boolean isReady();

    /** Called when bytes were sent, which shows that the connection works. */
    void signOfLife();

    /** Called when the outcome of a job has been sent or will never be sent. */
    void done(Outcome outcome);

    /** Called when nothing can be sent any more. */
    void broken(Exception failure);
  }

  Outbox(WebSocket socket, Callbacks callbacks) {
    this.socket = socket;
    this.callbacks = callbacks;
  }

  void start() {
    Thread.ofPlatform().daemon().name("millrace-job-send").start(this::run);
  }

  /** Adds a message. Returns false if it can no longer be sent. */
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
        callbacks.done(outcome);
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
      callbacks.broken(e);
    } catch (Error e) {
      callbacks.broken(new IOException("nothing can be sent: " + e, e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      callbacks.broken(e);
    }
  }

  private void send(Message next) throws IOException {
    switch (next) {
      case Register(String text) -> send(text);
      case Status() -> send(message(1).put("status", callbacks.isReady() ? 1 : 0));
      case Progress(ReceivedJob job, Double percent, String info) ->
          send(about(3, job).put("percent", percent).put("info", start(info)));
      case Outcome outcome -> {
        try {
          sendOutcome(outcome);
        } finally {
          callbacks.done(outcome);
        }
      }
      case Close(String reason) -> socket.sendClose(WebSocket.NORMAL_CLOSURE, reason).join();
    }
  }

  private void sendOutcome(Outcome outcome) throws IOException {
    switch (outcome) {
      case Failed(ReceivedJob job, String info, String logs, JobFailedException cause) -> {
        ObjectNode message = about(4, job).put("info", start(info)).put("logs", end(logs));
        if (cause != null && cause.code() != null) {
          message.put("failureCode", cause.code());
        }
        if (cause != null && cause.delay() != null) {
          BigDecimal seconds = BigDecimal.valueOf(cause.delay().toMillis(), 3);
          message.put(cause.isSnooze() ? "snooze" : "retryAfter", seconds);
        }
        send(message);
      }
      case Result(ReceivedJob job, JobResult.Content result) -> {
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
      callbacks.signOfLife();
    } while (count == buffer.length);
  }

  private void send(ObjectNode message) {
    send(message.toString());
  }

  private void send(String text) {
    socket.sendText(text, true).join();
    callbacks.signOfLife();
  }

  private static ObjectNode message(int code) {
    return MAPPER.createObjectNode().put("code", code);
  }

  /**
   * A message about a job. It has no id if the server does not announce jobs, because such a server
   * does not expect one.
   */
  private static ObjectNode about(int code, ReceivedJob job) {
    return job.id().isEmpty() ? message(code) : message(code).put("job", job.id());
  }

  private static @Nullable String start(@Nullable String info) {
    return info == null ? null : wellFormed(info.substring(0, Math.min(info.length(), MAX_INFO)));
  }

  private static @Nullable String end(@Nullable String logs) {
    return logs == null ? null : wellFormed(logs.substring(Math.max(0, logs.length() - MAX_LOGS)));
  }

  /** Replaces lone surrogates, which cannot be encoded in UTF-8, with question marks. */
  private static String wellFormed(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }
}
