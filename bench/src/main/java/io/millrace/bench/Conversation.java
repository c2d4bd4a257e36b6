package io.millrace.bench;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;

/** What one connection says and hears, one request at a time. For use by one thread. */
interface Conversation {
  /** Writes the next request. */
  void ask(ByteBuffer target);

  /**
   * Looks at what has come since the request: reads a whole answer, or leaves the buffer's position
   * where it is because more must come.
   *
   * @return whether an answer was read
   * @throws BenchException if the answer is not what it should be
   */
  boolean hear(ByteBuffer received);

  /** How many lifecycles the answer heard last has ended; 0 within one. */
  int ended();

  /** A lifecycle as Redis users build it: RPUSH, LMOVE to a list of those in work, LREM. */
  static final class Redis implements Conversation {
    private static final String WAITING = "bench";
    private static final String WORKING = "bench-working";
    private static final byte[] LINE_END = HttpExchange.Ascii.bytes("\r\n");

    private final byte[] push;
    private final byte[] move;
    private byte[] value = new byte[0];
    private Lifecycle.Step step = Lifecycle.Step.ADD;
    private boolean ended;

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
      return HttpExchange.Ascii.bytes(text.toString());
    }

    @Override
    public void ask(ByteBuffer target) {
      switch (step) {
        case ADD -> target.put(push);
        case CLAIM -> target.put(move);
        case DELETE ->
            target.put(command("LREM", WORKING, "1", new String(value, StandardCharsets.US_ASCII)));
      }
    }

    @Override
    public boolean hear(ByteBuffer received) {
      int begin = received.position();
      int lineEnd = HttpExchange.Ascii.find(received, begin, LINE_END);
      if (lineEnd < 0) {
        return false;
      }
      byte kind = received.get(begin);
      if (kind == '$' && received.get(begin + 1) != '-') {
        int length = (int) HttpExchange.Ascii.number(received, begin + 1);
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
        throw new BenchException("Redis answers: " + HttpExchange.Ascii.show(received));
      }
      ended = step == Lifecycle.Step.DELETE;
      step = step.next();
      return true;
    }

    @Override
    public int ended() {
      return ended ? 1 : 0;
    }
  }

  /** A lifecycle of beanstalkd: put, reserve, delete. */
  static final class Beanstalk implements Conversation {
    private static final byte[] LINE_END = HttpExchange.Ascii.bytes("\r\n");
    private static final byte[] INSERTED = HttpExchange.Ascii.bytes("INSERTED ");
    private static final byte[] RESERVED = HttpExchange.Ascii.bytes("RESERVED ");
    private static final byte[] DELETED = HttpExchange.Ascii.bytes("DELETED");
    private static final byte[] PUT =
        HttpExchange.Ascii.bytes(
            "put 1 0 600 " + Lifecycle.DATA.size() + "\r\n" + Lifecycle.DATA.utf8() + "\r\n");
    private static final byte[] RESERVE = HttpExchange.Ascii.bytes("reserve\r\n");

    private Lifecycle.Step step = Lifecycle.Step.ADD;
    private long reserved;
    private boolean ended;

    @Override
    public void ask(ByteBuffer target) {
      switch (step) {
        case ADD -> target.put(PUT);
        case CLAIM -> target.put(RESERVE);
        case DELETE -> target.put(HttpExchange.Ascii.bytes("delete " + reserved + "\r\n"));
      }
    }

    @Override
    public boolean hear(ByteBuffer received) {
      int begin = received.position();
      int lineEnd = HttpExchange.Ascii.find(received, begin, LINE_END);
      if (lineEnd < 0) {
        return false;
      }
      int end = lineEnd + 2;
      byte[] expected =
          switch (step) {
            case ADD -> INSERTED;
            case CLAIM -> RESERVED;
            case DELETE -> DELETED;
          };
      if (HttpExchange.Ascii.find(received, begin, expected) != begin) {
        throw new BenchException("beanstalkd answers: " + HttpExchange.Ascii.show(received));
      }
      if (step == Lifecycle.Step.CLAIM) {
        end += Lifecycle.DATA.size() + 2;
        if (received.limit() < end) {
          return false;
        }
        reserved = HttpExchange.Ascii.number(received, begin + RESERVED.length);
      }
      received.position(end);
      ended = step == Lifecycle.Step.DELETE;
      step = step.next();
      return true;
    }

    @Override
    public int ended() {
      return ended ? 1 : 0;
    }
  }

  /**
   * Three requests to an endpoint that gives back what it was sent, counted as one lifecycle: what
   * the HTTP server can do at most.
   */
  static final class Echo implements Conversation {
    private final byte[] head;
    private final byte[] body;
    private int asked;

    Echo(int port, int client) {
      head = HttpExchange.head(BenchServer.ECHO, port);
      body =
          HttpExchange.Ascii.bytes(
              "{\"clientid\":"
                  + client
                  + ",\"adds\":[{\"group\":\""
                  + Lifecycle.GROUP
                  + "\",\"data\":\""
                  + Lifecycle.DATA.utf8()
                  + "\"}]}");
    }

    @Override
    public void ask(ByteBuffer target) {
      HttpExchange.ask(target, head, body);
    }

    @Override
    public boolean hear(ByteBuffer received) {
      if (HttpExchange.hear(received) == null) {
        return false;
      }
      asked++;
      return true;
    }

    @Override
    public int ended() {
      return asked % 3 == 0 ? 1 : 0;
    }
  }

  /** Creations of many queue tasks, one request after another. */
  static final class CreateTasks implements Conversation {
    /**
     * The tasks of one request: as many as the answer has room for in the buffer of a connection.
     */
    static final int BATCH = 1_000;

    private final byte[] head;
    private final byte[] body;

    CreateTasks(int port, String queue) {
      head = HttpExchange.head("/dci/tasks/" + queue, port);
      String task = "{\"command\":\"echo 0123456789\"}";
      body =
          HttpExchange.Ascii.bytes("[" + String.join(",", Collections.nCopies(BATCH, task)) + "]");
    }

    @Override
    public void ask(ByteBuffer target) {
      HttpExchange.ask(target, head, body);
    }

    @Override
    public boolean hear(ByteBuffer received) {
      return HttpExchange.hear(received) != null;
    }

    @Override
    public int ended() {
      return BATCH;
    }
  }

  /** Lifecycles over the store's HTTP API, one task or several in each request. */
  static final class StoreTasks implements Conversation {
    private static final byte[] ID = HttpExchange.Ascii.bytes("\"id\":");

    private final int batch;
    private final byte[] updateHead;
    private final byte[] claimHead;
    private final byte[] add;
    private final byte[] claim;
    private final byte[] deleteBegin;
    private final long[] claimed;
    private Lifecycle.Step step = Lifecycle.Step.ADD;
    private int ended;

    /**
     * A conversation of a client.
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
      add =
          HttpExchange.Ascii.bytes(
              "{\"clientid\":"
                  + client
                  + ",\"adds\":["
                  + String.join(",", Collections.nCopies(batch, task))
                  + "]}");
      claim =
          HttpExchange.Ascii.bytes(
              "{\"clientid\":"
                  + client
                  + ",\"group\":\""
                  + Lifecycle.GROUP
                  + "\",\"duration\":600000"
                  + (batch == 1 ? "}" : ",\"count\":" + batch + "}"));
      deleteBegin = HttpExchange.Ascii.bytes("{\"clientid\":" + client + ",\"deletes\":[");
      claimed = new long[batch];
    }

    @Override
    public void ask(ByteBuffer target) {
      switch (step) {
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
      return HttpExchange.Ascii.bytes(text.append("]}").toString());
    }

    @Override
    public boolean hear(ByteBuffer received) {
      ByteBuffer body = HttpExchange.hear(received);
      if (body == null) {
        return false;
      }
      ended = step == Lifecycle.Step.DELETE ? batch : 0;
      if (step == Lifecycle.Step.CLAIM) {
        readIds(body);
      }
      step = step.next();
      return true;
    }

    private void readIds(ByteBuffer body) {
      int at = 0;
      for (int i = 0; i < batch; i++) {
        at = HttpExchange.Ascii.find(body, at, ID);
        if (at < 0) {
          throw new BenchException(
              "a claim gave "
                  + i
                  + " tasks instead of "
                  + batch
                  + ": "
                  + HttpExchange.Ascii.show(body));
        }
        at += ID.length;
        claimed[i] = HttpExchange.Ascii.number(body, at);
      }
    }

    @Override
    public int ended() {
      return ended;
    }
  }
}
