package io.millrace.client.jobs;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** One connection to the server, with the jobs that were received over it. */
final class WorkerConnection implements WebSocket.Listener, Outbox.Callbacks {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerConnection.class);
  private static final int MAX_TEXT = 1 << 20;
  private static final int PROTOCOL_ERROR = 1002;
  private static final int GOING_AWAY = 1001;
  private static final int BROKEN = 1006;
  private static final long CLOSE_SECONDS = 5;

  /** The interval of pings. */
  private static final Duration PING = Duration.ofSeconds(20);

  /** How long the server may send nothing before the connection counts as broken. */
  private static final Duration LONGEST_SILENCE = Duration.ofSeconds(60);

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0).asReadOnlyBuffer();

  private final JobWorkerOptions options;
  private final JobHandler handler;
  private final Runnable onRegistered;
  private final CompletableFuture<CloseStatus> over = new CompletableFuture<>();

  /** Guarded by itself. */
  private final Set<ReceivedJob> active = Collections.newSetFromMap(new IdentityHashMap<>());

  private final Outbox.Register registration;
  private final StringBuilder text = new StringBuilder();
  private ReceivedJob.Announcement announced = ReceivedJob.Announcement.NONE;
  private @Nullable ReceivedJob arriving;
  private volatile @Nullable WebSocket socket;
  private volatile @Nullable Outbox outbox;
  private volatile long lastSignNanos = System.nanoTime();
  private volatile boolean registered;
  private volatile boolean leaving;
  private volatile boolean closing;

  /**
   * A connection that is not open yet.
   *
   * @param onRegistered called when the server has accepted the worker
   */
  WorkerConnection(JobWorkerOptions options, JobHandler handler, Runnable onRegistered) {
    this.options = options;
    this.handler = handler;
    this.onRegistered = onRegistered;
    registration = Outbox.Register.of(options.identity(), options.concurrency());
  }

  /** How a connection ended: the WebSocket close code and the reason. */
  record CloseStatus(int code, String reason) {}

  /** Whether the server has accepted the worker. */
  boolean registered() {
    return registered;
  }

  int busy() {
    synchronized (active) {
      return active.size();
    }
  }

  /** Waits until the connection has ended and the work on its jobs too. */
  CloseStatus await() throws InterruptedException {
    CloseStatus ended = over.join();
    Outbox out = outbox;
    if (out != null) {
      out.stop();
    }
    WebSocket connection = socket;
    if (connection != null) {
      connection.abort();
    }
    List<ReceivedJob> jobs;
    synchronized (active) {
      jobs = List.copyOf(active);
    }
    jobs.forEach(job -> job.cancel("the connection ended: " + ended.reason()));
    synchronized (active) {
      while (!active.isEmpty()) {
        active.wait(TimeUnit.SECONDS.toMillis(10));
        if (!active.isEmpty()) {
          LOG.warn("waiting for the handlers of {} jobs that were withdrawn", active.size());
        }
      }
    }
    return ended;
  }

  /** Takes no more jobs, and closes the connection when the active jobs have ended. */
  void leave() {
    leaving = true;
    send(new Outbox.Status());
    closeIfDone();
  }

  /** Cuts the connection. The server offers the active jobs to other workers. */
  void cut(String reason) {
    over.complete(new CloseStatus(BROKEN, reason));
  }

  /**
   * Closes the connection at once with a close message. The server offers the active jobs to other
   * workers, and does not count them as returned.
   */
  void goAway(String reason) {
    WebSocket connection = socket;
    if (connection != null) {
      try {
        var _ =
            connection
                .sendClose(GOING_AWAY, reason)
                .orTimeout(CLOSE_SECONDS, TimeUnit.SECONDS)
                .join();
      } catch (CompletionException | IllegalStateException e) {
        LOG.debug("the close message could not be sent", e);
      }
    }
    cut(reason);
  }

  private void closeIfDone() {
    synchronized (active) {
      if (!leaving || closing || outbox == null || !active.isEmpty()) {
        return;
      }
      closing = true;
    }
    send(new Outbox.Close("the worker leaves"));
    var _ =
        over.completeOnTimeout(
            new CloseStatus(WebSocket.NORMAL_CLOSURE, "the worker left"),
            CLOSE_SECONDS,
            TimeUnit.SECONDS);
  }

  private boolean send(Outbox.Message next) {
    Outbox out = outbox;
    return out != null && out.add(next);
  }

  @Override
  public void onOpen(WebSocket opened) {
    Outbox out = new Outbox(opened, this);
    socket = opened;
    outbox = out;
    out.start();
    send(registration);
    Thread.ofPlatform().daemon().name("millrace-job-alive").start(() -> watch(opened));
    closeIfDone();
    opened.request(1);
  }

  /** Sends pings, and cuts the connection if the server sends nothing for too long. */
  private void watch(WebSocket opened) {
    while (!over.isDone()) {
      try {
        var _ = over.get(PING.toNanos(), TimeUnit.NANOSECONDS);
      } catch (TimeoutException _) {
        if (System.nanoTime() - lastSignNanos > LONGEST_SILENCE.toNanos()) {
          cut("nothing has arrived from the server for " + LONGEST_SILENCE.toSeconds() + " s");
        }
        // This fails if another ping is still being sent, which is harmless.
        var _ = opened.sendPing(NOTHING.duplicate());
      } catch (InterruptedException | ExecutionException _) {
        return;
      }
    }
  }

  @Override
  public @Nullable CompletionStage<?> onText(WebSocket on, CharSequence data, boolean last) {
    signOfLife();
    text.append(data);
    if (text.length() > MAX_TEXT) {
      over.complete(new CloseStatus(PROTOCOL_ERROR, "the server sent a message that is too long"));
    } else if (last) {
      receive(text.toString());
      text.setLength(0);
    }
    on.request(1);
    return null;
  }

  private void receive(String message) {
    JsonNode json;
    try {
      json = Outbox.MAPPER.readTree(message);
    } catch (JacksonException e) {
      over.complete(new CloseStatus(PROTOCOL_ERROR, "the server sent a message that is not JSON"));
      return;
    }
    if (!registered) {
      registered = true;
      onRegistered.run();
    }
    switch (json.path("code").asInt(-1)) {
      case 2 -> {
        if (json.path("refused").isString()) {
          withdrawn(json.path("refused").asString(), json.path("info").asString(""));
        }
        send(new Outbox.Status());
      }
      case 5 ->
          announced =
              new ReceivedJob.Announcement(
                  json.path("job").asString(""),
                  json.path("key").asString(""),
                  json.path("token").asLong(0),
                  json.path("bytes").asLong(-1),
                  trace(json));
      default -> LOG.debug("unknown message: {}", message);
    }
  }

  private static Map<String, String> trace(JsonNode announcement) {
    Map<String, String> trace = new TreeMap<>();
    for (String header : List.of("traceparent", "tracestate")) {
      if (announcement.path(header).isString()) {
        trace.put(header.toUpperCase(Locale.ROOT), announcement.path(header).asString());
      }
    }
    return trace;
  }

  private void withdrawn(String id, String reason) {
    LOG.info("job {} was withdrawn: {}", id, reason);
    List<ReceivedJob> jobs;
    synchronized (active) {
      jobs = active.stream().filter(job -> job.id().equals(id)).toList();
    }
    jobs.forEach(job -> job.cancel(reason));
  }

  @Override
  public @Nullable CompletionStage<?> onBinary(WebSocket on, ByteBuffer data, boolean last) {
    signOfLife();
    ReceivedJob job = arriving;
    if (job == null) {
      job = begin();
      arriving = job;
    }
    try {
      job.payload().write(data);
    } catch (IOException e) {
      LOG.error("the payload of job {} cannot be stored", job.id(), e);
      job.payload().breakOff("the payload cannot be stored: " + e);
    }
    if (last) {
      job.payload().complete();
      arriving = null;
    }
    on.request(1);
    return null;
  }

  private ReceivedJob begin() {
    ReceivedJob job = new ReceivedJob(announced, this::report);
    announced = ReceivedJob.Announcement.NONE;
    synchronized (active) {
      if (closing) {
        // The job crossed the close message. The server offers it to another worker.
        job.payload().close();
        return job;
      }
      active.add(job);
    }
    // A platform thread: a handler that computes would occupy one of the few carrier threads of
    // virtual threads, and delay status messages and pings.
    Thread.ofPlatform().daemon().name("millrace-job-" + job.id()).start(() -> work(job));
    return job;
  }

  private void report(ReceivedJob job, @Nullable Double percent, @Nullable String info) {
    if (!job.isCancelled()) {
      send(new Outbox.Progress(job, percent, info));
    }
  }

  private void work(ReceivedJob job) {
    Thread thread = Thread.currentThread();
    // The thread is for this job alone.
    MDC.put("job", job.id());
    job.onCancel(thread::interrupt);
    Outbox.Outcome outcome = outcome(job);
    job.payload().close();
    if (job.isCancelled()) {
      discard(outcome);
      outcome = new Outbox.Failed(job, "the worker stopped it after it was withdrawn", null, null);
    }
    if (isReplaced(job) || !send(outcome)) {
      done(outcome);
    }
  }

  private Outbox.Outcome outcome(ReceivedJob job) {
    try {
      return new Outbox.Result(job, handler.handle(job.payload().input(), job).prepare());
    } catch (JobFailedException e) {
      return new Outbox.Failed(job, e.getMessage(), e.logs(), e);
    } catch (Exception | Error e) {
      LOG.debug("job {} failed", job.id(), e);
      StringWriter trace = new StringWriter();
      e.printStackTrace(new PrintWriter(trace));
      return new Outbox.Failed(job, e.toString(), trace.toString(), null);
    }
  }

  /**
   * Whether a later attempt of the same job has arrived. Messages with its id are about that
   * attempt then.
   */
  private boolean isReplaced(ReceivedJob job) {
    String id = job.id();
    synchronized (active) {
      return job.isCancelled()
          && active.stream().anyMatch(other -> other != job && other.id().equals(id));
    }
  }

  private static void discard(Outbox.Outcome outcome) {
    if (outcome instanceof Outbox.Result result) {
      result.bytes().discard();
    }
  }

  @Override
  public boolean isReady() {
    synchronized (active) {
      return !leaving && (options.concurrency() > 1 || active.isEmpty());
    }
  }

  @Override
  public void signOfLife() {
    lastSignNanos = System.nanoTime();
  }

  @Override
  public void done(Outbox.Outcome outcome) {
    discard(outcome);
    synchronized (active) {
      active.remove(outcome.job());
      active.notifyAll();
    }
    closeIfDone();
  }

  @Override
  public void broken(Exception failure) {
    over.complete(new CloseStatus(BROKEN, "nothing can be sent: " + failure));
  }

  @Override
  public @Nullable CompletionStage<?> onPing(WebSocket on, ByteBuffer message) {
    signOfLife();
    on.request(1);
    return null;
  }

  @Override
  public @Nullable CompletionStage<?> onPong(WebSocket on, ByteBuffer message) {
    signOfLife();
    on.request(1);
    return null;
  }

  @Override
  public @Nullable CompletionStage<?> onClose(WebSocket on, int code, String reason) {
    over.complete(new CloseStatus(code, reason));
    return null;
  }

  @Override
  public void onError(WebSocket on, Throwable error) {
    over.complete(new CloseStatus(BROKEN, String.valueOf(error)));
  }
}
