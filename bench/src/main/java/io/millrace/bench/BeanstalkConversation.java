package io.millrace.bench;

import java.nio.ByteBuffer;

/** A lifecycle of beanstalkd: put, reserve, delete. */
final class BeanstalkConversation implements Conversation {
  private static final byte[] LINE_END = Ascii.bytes("\r\n");
  private static final byte[] INSERTED = Ascii.bytes("INSERTED ");
  private static final byte[] RESERVED = Ascii.bytes("RESERVED ");
  private static final byte[] DELETED = Ascii.bytes("DELETED");
  private static final byte[] PUT =
      Ascii.bytes("put 1 0 600 " + Lifecycle.DATA.size() + "\r\n" + Lifecycle.DATA.utf8() + "\r\n");
  private static final byte[] RESERVE = Ascii.bytes("reserve\r\n");

  private Step step = Step.ADD;
  private long reserved;
  private boolean ended;

  @Override
  public void ask(ByteBuffer target) {
    switch (step) {
      case ADD -> target.put(PUT);
      case CLAIM -> target.put(RESERVE);
      case DELETE -> target.put(Ascii.bytes("delete " + reserved + "\r\n"));
    }
  }

  @Override
  public boolean hear(ByteBuffer received) {
    int begin = received.position();
    int lineEnd = Ascii.find(received, begin, LINE_END);
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
    if (Ascii.find(received, begin, expected) != begin) {
      throw new BenchException("beanstalkd answers: " + Ascii.show(received));
    }
    if (step == Step.CLAIM) {
      end += Lifecycle.DATA.size() + 2;
      if (received.limit() < end) {
        return false;
      }
      reserved = Ascii.number(received, begin + RESERVED.length);
    }
    received.position(end);
    ended = step == Step.DELETE;
    step = step.next();
    return true;
  }

  @Override
  public int ended() {
    return ended ? 1 : 0;
  }
}
