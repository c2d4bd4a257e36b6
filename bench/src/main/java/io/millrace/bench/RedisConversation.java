package io.millrace.bench;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** A lifecycle as Redis users build it: RPUSH, LMOVE to a list of those in work, LREM. */
final class RedisConversation implements Conversation {
  private static final String WAITING = "bench";
  private static final String WORKING = "bench-working";
  private static final byte[] LINE_END = Ascii.bytes("\r\n");

  private final byte[] push;
  private final byte[] move;
  private byte[] value = new byte[0];
  private Step step = Step.ADD;
  private boolean ended;

  RedisConversation(int client) {
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
    ended = step == Step.DELETE;
    step = step.next();
    return true;
  }

  @Override
  public int ended() {
    return ended ? 1 : 0;
  }
}
