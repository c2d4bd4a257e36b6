package io.millrace.bench;

import io.millrace.bench.Bench.BenchException;
import io.millrace.bench.Protocol.HttpExchange.Ascii;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The client's side of a protocol on one connection, one request at a time. For use by one thread.
 */
abstract class Protocol {
  private Lifecycle.Step step = Lifecycle.Step.ADD;

  /** How many lifecycles the last answer ended; 0 within a lifecycle. */
  int ended;

  /** Writes the next request. */
  abstract void ask(ByteBuffer target);

  /**
   * Looks at what has come since the request: reads a whole answer, or leaves the buffer's position
   * as it is if the answer is incomplete.
   *
   * @return whether an answer was read
   * @throws BenchException if it is not the expected answer
   */
  abstract boolean hear(ByteBuffer received);

  /** The next step of the lifecycle. */
  final Lifecycle.Step step() {
    return step;
  }

  /** Notes that this many lifecycles have made a step. */
  final void advance(int lifecycles) {
    ended = step == Lifecycle.Step.DELETE ? lifecycles : 0;
    step = step.next();
  }

  /** A lifecycle as users of Redis build it: RPUSH, LMOVE to a list of tasks in work, LREM. */
  static final class Redis extends Protocol {
    private static final String WAITING = "bench";
    private static final String WORKING = "bench-working";
    private static final byte[] LINE_END = Ascii.bytes("\r\n");

    private final byte[] push;
    private final byte[] move;
    private byte[] value = new byte[0];

    Redis(int client) {
      String data = (client + "-" + Lifecycle.DATA.utf8()).substring(0, Lifecycle.DATA.size());
      push = command("RPUSH", WAITING, data);
      move = command("LMOVE", WAITING, WORKING, "LEFT", "RIGHT");
    }

    private static byte[] command(String... parts) {
      StringBuilder text = new StringBuilder("*").append(parts.length).append("\r\n");
      for (String part : parts) {
        text.append('$').append(part.length()).append("\r\n").append(part).append("\r\n");
      }
      return Ascii.bytes(text.toString());
    }

    @Override
    void ask(ByteBuffer target) {
      switch (step()) {
        case ADD -> target.put(push);
        case CLAIM -> target.put(move);
        case DELETE ->
            target.put(command("LREM", WORKING, "1", new String(value, StandardCharsets.US_ASCII)));
      }
    }

    @Override
    boolean hear(ByteBuffer received) {
      int begin = received.position();
      int lineEnd = Ascii.find(received, begin, LINE_END);
      if (lineEnd < 0) {
        return false;
      }
      byte kind = received.get(begin);
      if (kind == '$' && received.get(begin + 1) != '-') {
        int length = (int) Ascii.number(received, begin + 1);
        int end = lineEnd + 2 + length + 2;
        if (received.limit() < end) {
          return false;
        }
        value = new byte[length];
        received.get(lineEnd + 2, value);
        received.position(end);
      } else if (kind == ':' && received.get(begin + 1) != '0') {
        received.position(lineEnd + 2);
      } else {
        throw new BenchException("Redis answers: " + Ascii.show(received));
      }
      advance(1);
      return true;
    }
  }

  /** A lifecycle of beanstalkd: put, reserve, delete. */
  static final class Beanstalk extends Protocol {
    private static final byte[] LINE_END = Ascii.bytes("\r\n");
    private static final byte[] INSERTED = Ascii.bytes("INSERTED ");
    private static final byte[] RESERVED = Ascii.bytes("RESERVED ");
    private static final byte[] DELETED = Ascii.bytes("DELETED");
    private static final byte[] PUT =
        Ascii.bytes(
            "put 1 0 600 " + Lifecycle.DATA.size() + "\r\n" + Lifecycle.DATA.utf8() + "\r\n");
    private static final byte[] RESERVE = Ascii.bytes("reserve\r\n");

    private long reserved;

    @Override
    void ask(ByteBuffer target) {
      switch (step()) {
        case ADD -> target.put(PUT);
        case CLAIM -> target.put(RESERVE);
        case DELETE -> target.put(Ascii.bytes("delete " + reserved + "\r\n"));
      }
    }

    @Override
    boolean hear(ByteBuffer received) {
      int begin = received.position();
      int lineEnd = Ascii.find(received, begin, LINE_END);
      if (lineEnd < 0) {
        return false;
      }
      int end = lineEnd + 2;
      byte[] expected =
          switch (step()) {
            case ADD -> INSERTED;
            case CLAIM -> RESERVED;
            case DELETE -> DELETED;
          };
      if (Ascii.find(received, begin, expected) != begin) {
        throw new BenchException("beanstalkd answers: " + Ascii.show(received));
      }
      if (step() == Lifecycle.Step.CLAIM) {
        end += Lifecycle.DATA.size() + 2;
        if (received.limit() < end) {
          return false;
        }
        reserved = Ascii.number(received, begin + RESERVED.length);
      }
      received.position(end);
      advance(1);
      return true;
    }
  }

  /** The same HTTP request again and again. */
  static final class Repeated extends Protocol {
    /**
     * The number of tasks in a request, so that the answer fits into the buffer of a connection.
     */
    static final int BATCH = 1_000;

    private final byte[] head;
    private final byte[] body;
    private final int requests;
    private final int lifecycles;
    private int asked;

    private Repeated(byte[] head, String body, int requests, int lifecycles) {
      this.head = head;
      this.body = Ascii.bytes(body);
      this.requests = requests;
      this.lifecycles = lifecycles;
    }

    /**
     * Three requests to an endpoint that returns what it was sent, counted as one lifecycle: the
     * most that the HTTP server can do.
     */
    static Repeated echo(int port, int client) {
      String body =
          "{\"clientid\":%d,\"adds\":[{\"group\":\"%s\",\"data\":\"%s\"}]}"
              .formatted(client, Lifecycle.GROUP, Lifecycle.DATA.utf8());
      return new Repeated(HttpExchange.head(BenchServer.ECHO, port), body, 3, 1);
    }

    /** Creations of {@link #BATCH} queue tasks; each task counts as a lifecycle. */
    static Repeated createTasks(int port, String queue) {
      List<String> tasks = Collections.nCopies(BATCH, "{\"command\":\"echo 0123456789\"}");
      byte[] head = HttpExchange.head("/dci/tasks/" + queue, port);
      return new Repeated(head, "[" + String.join(",", tasks) + "]", 1, BATCH);
    }

    @Override
    void ask(ByteBuffer target) {
      HttpExchange.ask(target, head, body);
    }

    @Override
    boolean hear(ByteBuffer received) {
      if (HttpExchange.hear(received) == null) {
        return false;
      }
      asked++;
      ended = asked % requests == 0 ? lifecycles : 0;
      return true;
    }
  }

  /** Lifecycles over the store's HTTP API, one task or several in each request. */
  static final class StoreTasks extends Protocol {
    private static final byte[] ID = Ascii.bytes("\"id\":");

    private final int batch;
    private final byte[] updateHead;
    private final byte[] claimHead;
    private final byte[] add;
    private final byte[] claim;
    private final byte[] deleteBegin;
    private final long[] claimed;

    /**
     * The conversation of one client.
     *
     * @param client its id
     * @param batch the number of tasks in a request
     */
    StoreTasks(int port, int client, int batch) {
      this.batch = batch;
      updateHead = HttpExchange.head("/store/update", port);
      claimHead = HttpExchange.head("/store/claim", port);
      String task =
          "{\"group\":\"" + Lifecycle.GROUP + "\",\"data\":\"" + Lifecycle.DATA.utf8() + "\"}";
      String tasks = String.join(",", Collections.nCopies(batch, task));
      add = Ascii.bytes("{\"clientid\":" + client + ",\"adds\":[" + tasks + "]}");
      claim =
          Ascii.bytes(
              "{\"clientid\":%d,\"group\":\"%s\",\"duration\":600000%s}"
                  .formatted(client, Lifecycle.GROUP, batch == 1 ? "" : ",\"count\":" + batch));
      deleteBegin = Ascii.bytes("{\"clientid\":" + client + ",\"deletes\":[");
      claimed = new long[batch];
    }

    @Override
    void ask(ByteBuffer target) {
      switch (step()) {
        case ADD -> HttpExchange.ask(target, updateHead, add);
        case CLAIM -> HttpExchange.ask(target, claimHead, claim);
        case DELETE -> HttpExchange.ask(target, updateHead, deletion());
      }
    }

    private byte[] deletion() {
      StringBuilder text = new StringBuilder(new String(deleteBegin, StandardCharsets.US_ASCII));
      for (int i = 0; i < batch; i++) {
        text.append(i == 0 ? "" : ",").append(claimed[i]);
      }
      return Ascii.bytes(text.append("]}").toString());
    }

    @Override
    boolean hear(ByteBuffer received) {
      ByteBuffer body = HttpExchange.hear(received);
      if (body == null) {
        return false;
      }
      if (step() == Lifecycle.Step.CLAIM) {
        readIds(body);
      }
      advance(batch);
      return true;
    }

    private void readIds(ByteBuffer body) {
      int at = 0;
      for (int i = 0; i < batch; i++) {
        at = Ascii.find(body, at, ID);
        if (at < 0) {
          throw new BenchException(
              "a claim gave %d tasks instead of %d: %s".formatted(i, batch, Ascii.show(body)));
        }
        at += ID.length;
        claimed[i] = Ascii.number(body, at);
      }
    }
  }

  /** The part of HTTP/1.1 that a load needs: requests with a body, answers with a length. */
  static final class HttpExchange {
    private static final byte[] HEAD_END = Ascii.bytes("\r\n\r\n");
    private static final byte[] LENGTH = Ascii.bytes("ontent-");
    private static final byte[] OK = Ascii.bytes("HTTP/1.1 200");

    /** The beginning of the answer to a submitted job. */
    static final byte[] ACCEPTED = Ascii.bytes("HTTP/1.1 202");

    /** The beginning of the answer of a store without room. */
    static final byte[] UNAVAILABLE = Ascii.bytes("HTTP/1.1 503");

    private HttpExchange() {}

    /** A connection to a port of this machine. */
    static SocketChannel connect(int port) throws IOException {
      SocketChannel channel =
          SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      return channel;
    }

    /** Writes all that remains, by trying again until it is written. */
    static void write(SocketChannel channel, ByteBuffer bytes) throws IOException {
      while (bytes.hasRemaining()) {
        if (channel.write(bytes) == 0) {
          Thread.onSpinWait();
        }
      }
    }

    static byte[] head(String path, int port) {
      return Ascii.bytes(
          "POST "
              + path
              + " HTTP/1.1\r\nHost: 127.0.0.1:"
              + port
              + "\r\nContent-Type: application/json\r\nContent-Length: ");
    }

    static void ask(ByteBuffer target, byte[] head, byte[] body) {
      target.put(head).put(Ascii.bytes(Integer.toString(body.length))).put(HEAD_END).put(body);
    }

    /**
     * The body of a whole answer, which is then read from the buffer; null if the answer is
     * incomplete.
     *
     * @throws BenchException if the status is not 200
     */
    static @Nullable ByteBuffer hear(ByteBuffer received) {
      return hear(received, OK);
    }

    /** The same for an answer that begins with another status than 200. */
    static @Nullable ByteBuffer hear(ByteBuffer received, byte[] status) {
      int begin = received.position();
      int headEnd = Ascii.find(received, begin, HEAD_END);
      if (headEnd < 0) {
        return null;
      }
      if (Ascii.find(received, begin, status) != begin) {
        throw new BenchException("the server answers: " + Ascii.show(received));
      }
      int bodyBegin = headEnd + HEAD_END.length;
      long length = contentLength(received, begin, headEnd);
      if (received.limit() - bodyBegin < length) {
        return null;
      }
      ByteBuffer body = received.slice(bodyBegin, (int) length);
      received.position(bodyBegin + (int) length);
      return body;
    }

    /** The number after {@code Content-Length:} in any case. */
    private static long contentLength(ByteBuffer received, int begin, int headEnd) {
      for (int at = Ascii.find(received, begin, LENGTH);
          at >= 0 && at < headEnd;
          at = Ascii.find(received, at + 1, LENGTH)) {
        int after = at + LENGTH.length;
        if ((received.get(after) | 0x20) == 'l') {
          return Ascii.number(received, after + "length:".length());
        }
      }
      throw new BenchException("an answer without a length: " + Ascii.show(received));
    }

    /** Reads the plain text of protocols from buffers. */
    static final class Ascii {
      private Ascii() {}

      static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
      }

      /**
       * The position of {@code sought} in what remains from {@code from} on; -1 if it is not there.
       */
      static int find(ByteBuffer buffer, int from, byte[] sought) {
        int last = buffer.limit() - sought.length;
        for (int at = from; at <= last; at++) {
          int i = 0;
          while (i < sought.length && buffer.get(at + i) == sought[i]) {
            i++;
          }
          if (i == sought.length) {
            return at;
          }
        }
        return -1;
      }

      /** The decimal number that begins at {@code at}, after spaces. */
      static long number(ByteBuffer buffer, int at) {
        int place = at;
        while (place < buffer.limit() && buffer.get(place) == ' ') {
          place++;
        }
        long value = 0;
        while (place < buffer.limit()) {
          int digit = buffer.get(place) - '0';
          if (digit < 0 || digit > 9) {
            break;
          }
          value = value * 10 + digit;
          place++;
        }
        return value;
      }

      /** What remains, cut off after 200 characters, for messages. */
      static String show(ByteBuffer buffer) {
        ByteBuffer rest = buffer.duplicate();
        rest.limit(Math.min(rest.limit(), rest.position() + 200));
        return StandardCharsets.UTF_8.decode(rest).toString();
      }
    }
  }
}
