package io.millrace.bench;

import io.millrace.bench.Bench.BenchException;
import io.millrace.bench.Measurement.Load;
import io.millrace.bench.Protocol.HttpExchange;
import io.millrace.bench.Protocol.HttpExchange.Ascii;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Workers and clients of one job server, driven by one thread with a selector. */
final class JobsLoad implements AutoCloseable {
  private static final long MAX_MILLIS = 60_000;
  private static final Pace IDLE = new Pace(0, Duration.ZERO);

  private final Selector selector;
  private final List<BenchWorker> workers = new ArrayList<>();
  private final List<SubmitConnection> clients = new ArrayList<>();
  private int timesFull;

  private JobsLoad(Selector selector) {
    this.selector = selector;
  }

  /** Connects this many workers and clients. */
  static JobsLoad connect(int port, int workers, int clients) throws IOException {
    JobsLoad load = new JobsLoad(Selector.open());
    try {
      for (int i = 0; i < workers; i++) {
        BenchWorker worker = BenchWorker.connect(port, "worker-" + i);
        load.workers.add(worker);
        load.register(worker.channel(), worker);
        // A worker that is not served while thousands connect would count as silent.
        load.serve(new Run(Load.Window.after(Duration.ofDays(1)), IDLE), 0);
      }
      for (int i = 0; i < clients; i++) {
        SubmitConnection client = SubmitConnection.connect(port);
        load.clients.add(client);
        load.register(client.channel(), client);
      }
      return load;
    } catch (IOException | RuntimeException e) {
      load.close();
      throw e;
    }
  }

  private void register(SocketChannel channel, Object line) throws IOException {
    channel.register(selector, SelectionKey.OP_READ, line);
  }

  /**
   * How jobs are submitted.
   *
   * @param most the most jobs under way at a time
   * @param pause how long to wait between two; zero for no pause
   * @param whileFull how long to wait after the store had no room for one; null if that must not
   *     happen
   */
  record Pace(int most, Duration pause, @Nullable Duration whileFull) {
    Pace(int most, Duration pause) {
      this(most, pause, null);
    }
  }

  /** The state of a run. */
  private static final class Run {
    final Load.Window window;
    final Pace pace;
    final Histogram latency = Load.histogram();
    long submitted;
    long done;
    long counted;
    long submitAt = System.nanoTime();

    Run(Load.Window window, Pace pace) {
      this.window = window;
      this.pace = pace;
    }

    /** The store had no room for a job, which is submitted again later. */
    void refused(Duration pause) {
      submitted--;
      submitAt = System.nanoTime() + pause.toNanos();
    }

    /** A worker has got a job that was submitted at this time, and answers it. */
    void started(long submittedNanos) {
      done++;
      long now = System.nanoTime();
      if (now >= window.from() && now < window.until()) {
        counted++;
        latency.recordValue(now - submittedNanos);
      }
    }
  }

  /** Runs jobs from submission to result for this long, after a warm-up; each is run to its end. */
  Load run(Duration time, Pace pace) throws IOException {
    Run run = new Run(Load.Window.after(time), pace);
    long giveUp = run.window.until() + Duration.ofMillis(MAX_MILLIS).toNanos();
    long now = System.nanoTime();
    while (now < run.window.until() || run.done < run.submitted) {
      if (now > giveUp) {
        throw new BenchException(
            "of " + run.submitted + " jobs only " + run.done + " came to a worker");
      }
      if (now < run.window.until()) {
        submit(run);
      }
      serve(run, wait(run));
      now = System.nanoTime();
    }
    return new Load(run.counted, run.window.nanos(), run.latency);
  }

  /** The milliseconds until something may be due that no connection triggers. */
  private static long wait(Run run) {
    return run.pace.pause().isZero()
        ? 100
        : Math.clamp((run.submitAt - System.nanoTime()) / 1_000_000, 1, 100);
  }

  private void submit(Run run) throws IOException {
    for (SubmitConnection client : clients) {
      if (run.submitted - run.done >= run.pace.most() || run.submitAt - System.nanoTime() > 0) {
        return;
      }
      if (!client.isAsking()) {
        run.submitted++;
        long now = System.nanoTime();
        run.submitAt = now + run.pace.pause().toNanos();
        client.ask(now);
      }
    }
  }

  /** Keeps all workers connected for a while without jobs. */
  void idle(Duration time) throws IOException {
    long until = System.nanoTime() + time.toNanos();
    Run run = new Run(Load.Window.after(time), IDLE);
    while (until - System.nanoTime() > 0) {
      serve(run, 50);
    }
  }

  private void serve(Run run, long waitMillis) throws IOException {
    if (waitMillis == 0) {
      selector.selectNow();
    } else {
      selector.select(waitMillis);
    }
    for (SelectionKey key : selector.selectedKeys()) {
      @Nullable Object line = key.attachment();
      if (line instanceof BenchWorker worker) {
        worker.hear(run::started);
      } else if (line instanceof SubmitConnection client) {
        hear(client, run);
      }
    }
    selector.selectedKeys().clear();
  }

  private void hear(SubmitConnection client, Run run) throws IOException {
    if (client.hear()) {
      return;
    }
    Duration pause = run.pace.whileFull();
    if (pause == null) {
      throw new BenchException("the store is full");
    }
    long now = System.nanoTime();
    if (run.submitAt - now <= 0) {
      timesFull++;
    }
    run.refused(pause);
  }

  /** How often the store was full, so that clients waited. */
  int timesFull() {
    return timesFull;
  }

  @Override
  public void close() throws IOException {
    for (BenchWorker worker : workers) {
      worker.close();
    }
    for (SubmitConnection client : clients) {
      client.close();
    }
    selector.close();
  }

  /** A client that submits small jobs, one after the other. For use by one thread. */
  static final class SubmitConnection implements AutoCloseable {
    /** The result that workers send. */
    static final byte[] RESULT = Ascii.bytes("done");

    private static final int BUFFER_BYTES = 4 << 10;
    private static final int DIGITS = 20;
    private static final String BEFORE =
        """
        --b\r
        Content-Disposition: form-data; name="Priority"\r
        \r
        immediate\r
        --b\r
        Content-Disposition: form-data; name="Payload"\r
        \r
        """;
    private static final String AFTER = "\r\n--b--\r\n";

    private final SocketChannel channel;
    private final byte[] head;
    private final ByteBuffer in = ByteBuffer.allocate(BUFFER_BYTES);
    private boolean asking;

    private SubmitConnection(SocketChannel channel, byte[] head) {
      this.channel = channel;
      this.head = head;
    }

    static SubmitConnection connect(int port) throws IOException {
      SocketChannel channel = HttpExchange.connect(port);
      channel.configureBlocking(false);
      int length = BEFORE.length() + DIGITS + AFTER.length();
      return new SubmitConnection(
          channel,
          Ascii.bytes(
              "POST /api/jobs/submit HTTP/1.1\r\nHost: 127.0.0.1:"
                  + port
                  + "\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: "
                  + length
                  + "\r\n\r\n"
                  + BEFORE));
    }

    SocketChannel channel() {
      return channel;
    }

    boolean isAsking() {
      return asking;
    }

    /** Submits a job with this number, in 20 digits, as its payload. */
    void ask(long number) throws IOException {
      asking = true;
      String digits = Long.toString(number);
      ByteBuffer request = ByteBuffer.allocate(head.length + DIGITS + AFTER.length());
      request.put(head).put(Ascii.bytes("0".repeat(DIGITS - digits.length()) + digits + AFTER));
      request.flip();
      HttpExchange.write(channel, request);
    }

    /** Reads what has come; false if the store has no room for the job. */
    boolean hear() throws IOException {
      if (channel.read(in) < 0) {
        throw new BenchException("the server has closed the connection of a client");
      }
      in.flip();
      boolean full = Ascii.find(in, 0, HttpExchange.UNAVAILABLE) == 0;
      if (HttpExchange.hear(in, full ? HttpExchange.UNAVAILABLE : HttpExchange.ACCEPTED) != null) {
        asking = false;
      }
      in.compact();
      return asking || !full;
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }

  /**
   * A worker on a WebSocket, which is always ready and answers each job at once. It implements only
   * the part of the protocol that this needs, without a library. For use by one thread.
   */
  private static final class BenchWorker implements AutoCloseable {
    private static final int BUFFER_BYTES = 2 << 10;
    private static final int TEXT = 0x81;
    private static final int BINARY = 0x82;
    private static final int CLOSE = 0x88;
    private static final int PING = 0x89;
    private static final int PONG = 0x8a;
    private static final int LONG_LENGTH = 126;
    private static final byte[] SWITCHED = Ascii.bytes("HTTP/1.1 101");
    private static final byte[] HEAD_END = Ascii.bytes("\r\n\r\n");
    private static final byte[] REFUSED = Ascii.bytes("\"refused\"");
    private static final byte[] READY = Ascii.bytes("{\"code\":1,\"status\":1}");

    private final SocketChannel channel;
    private final ByteBuffer in = ByteBuffer.allocate(BUFFER_BYTES);
    private final ByteBuffer out = ByteBuffer.allocate(BUFFER_BYTES);

    private BenchWorker(SocketChannel channel) {
      this.channel = channel;
    }

    /** Connects and registers, without waiting for the server's messages. */
    static BenchWorker connect(int port, String id) throws IOException {
      SocketChannel channel = HttpExchange.connect(port);
      BenchWorker line = new BenchWorker(channel);
      line.shakeHands(port);
      line.send(
          TEXT,
          Ascii.bytes("{\"code\":0,\"name\":\"bench\",\"id\":\"" + id + "\",\"token\":\"\"}"));
      channel.configureBlocking(false);
      return line;
    }

    private void shakeHands(int port) throws IOException {
      out.put(
          Ascii.bytes(
              "GET /api/worker HTTP/1.1\r\nHost: 127.0.0.1:"
                  + port
                  + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                  + "Sec-WebSocket-Key: bWlsbHJhY2UtYmVuY2gtMA==\r\n\r\n"));
      flush();
      int end = -1;
      while (end < 0) {
        if (channel.read(in) < 0) {
          throw new BenchException("the server has closed the connection of a worker");
        }
        in.flip();
        end = Ascii.find(in, 0, HEAD_END);
        in.position(in.limit()).limit(in.capacity());
      }
      in.flip();
      if (Ascii.find(in, 0, SWITCHED) != 0) {
        throw new BenchException("no worker is let in: " + Ascii.show(in));
      }
      in.position(end + HEAD_END.length);
      in.compact();
    }

    SocketChannel channel() {
      return channel;
    }

    /** Reads what has come and answers it; passes on the number in each payload. */
    void hear(LongConsumer started) throws IOException {
      if (channel.read(in) < 0) {
        throw new BenchException("the server has closed the connection of a worker");
      }
      in.flip();
      boolean more = true;
      while (more) {
        more = hearFrame(started);
      }
      in.compact();
      flush();
    }

    /** Reads a frame; false if it is incomplete. */
    private boolean hearFrame(LongConsumer started) throws IOException {
      if (in.remaining() < 2) {
        return false;
      }
      int begin = in.position();
      int kind = in.get() & 0xff;
      int length = in.get();
      if (length == LONG_LENGTH) {
        length = in.remaining() < Short.BYTES ? BUFFER_BYTES : in.getShort();
      }
      if (in.remaining() < length) {
        in.position(begin);
        return false;
      }
      ByteBuffer content = in.slice(in.position(), length);
      in.position(in.position() + length);
      switch (kind) {
        case TEXT -> {
          if (Ascii.find(content, 0, REFUSED) >= 0) {
            throw new BenchException("the server refuses a result: " + Ascii.show(content));
          }
          send(TEXT, READY);
        }
        case BINARY -> {
          started.accept(Ascii.number(content, 0));
          send(BINARY, SubmitConnection.RESULT);
        }
        case PING -> send(PONG, new byte[0]);
        case CLOSE -> throw new BenchException("the server closes: " + Ascii.show(content));
        default -> throw new BenchException("the server sends a frame of the kind " + kind);
      }
      return true;
    }

    /**
     * Puts a frame into the buffer. It is masked with zeros, so that its bytes stay as they are.
     */
    private void send(int kind, byte[] content) throws IOException {
      out.put((byte) kind).put((byte) (0x80 | content.length)).putInt(0).put(content);
      if (out.remaining() < BUFFER_BYTES / 2 || channel.isBlocking()) {
        flush();
      }
    }

    private void flush() throws IOException {
      out.flip();
      HttpExchange.write(channel, out);
      out.clear();
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }
}
