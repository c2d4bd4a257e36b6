package io.millrace.client.jobs;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The sending half of a connection: a queue, and one thread that sends what is in it, since nothing
 * may come between the fragments of a result. Safe for use by threads.
 */
final class Outbox {
  private static final int FRAGMENT_BYTES = 128 << 10;

  private final WebSocket socket;
  private final Side side;
  private final Deque<Outgoing> queue = new ArrayDeque<>();
  private boolean stopped;

  /** What the sending half has to know of the rest. */
  interface Side {
    /** Whether the worker takes another job now. */
    boolean isReady();

    /** Bytes were taken: the connection lives. */
    void moved();

    /** The end of a job has gone out, or never will. */
    void done(Outgoing.Outcome outcome);

    /** Nothing can be sent any more. */
    void broken(Exception failure);
  }

  Outbox(WebSocket socket, Side side) {
    this.socket = socket;
    this.side = side;
  }

  void start() {
    Thread.ofPlatform().daemon().name("millrace-job-send").start(this::run);
  }

  /** Adds something; whether it may still be sent. */
  synchronized boolean add(Outgoing next) {
    if (stopped) {
      return false;
    }
    if (next instanceof Outgoing.Progress progress) {
      queue.removeIf(
          other -> other instanceof Outgoing.Progress old && old.job() == progress.job());
    }
    queue.add(next);
    notifyAll();
    return true;
  }

  /** Sends nothing more. */
  void stop() {
    List<Outgoing> left;
    synchronized (this) {
      stopped = true;
      left = new ArrayList<>(queue);
      queue.clear();
      notifyAll();
    }
    for (Outgoing each : left) {
      if (each instanceof Outgoing.Outcome outcome) {
        side.done(outcome);
      }
    }
  }

  private synchronized @Nullable Outgoing take() throws InterruptedException {
    while (queue.isEmpty() && !stopped) {
      wait();
    }
    return queue.poll();
  }

  private void run() {
    try {
      for (Outgoing next = take(); next != null; next = take()) {
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

  private void send(Outgoing next) throws IOException {
    switch (next) {
      case Outgoing.Text(String text) -> say(text);
      case Outgoing.Status() -> say(Messages.status(side.isReady()));
      case Outgoing.Progress progress ->
          say(Messages.progress(progress.job(), progress.percent(), progress.info()));
      case Outgoing.Outcome outcome -> {
        try {
          send(outcome);
        } finally {
          side.done(outcome);
        }
      }
      case Outgoing.Close(String reason) ->
          socket.sendClose(WebSocket.NORMAL_CLOSURE, reason).join();
    }
  }

  private void send(Outgoing.Outcome outcome) throws IOException {
    JobContext job = outcome.job().context();
    switch (outcome) {
      case Outgoing.Failed failed -> say(Messages.failure(job, failed.info(), failed.logs()));
      case Outgoing.Result result -> {
        try (InputStream bytes = result.bytes().open()) {
          if (!job.id().isEmpty()) {
            say(Messages.resultFollows(job));
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
      side.moved();
    } while (count == buffer.length);
  }

  private void say(String text) {
    socket.sendText(text, true).join();
    side.moved();
  }
}
