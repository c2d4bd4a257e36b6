package io.millrace.bench;

import java.nio.ByteBuffer;
import java.util.Collections;

/** Creations of many queue tasks, one request after another. */
final class CreateConversation implements Conversation {
  /** The tasks of one request: as many as the answer has room for in the buffer of a connection. */
  static final int BATCH = 1_000;

  private final byte[] head;
  private final byte[] body;

  CreateConversation(int port, String queue) {
    head = HttpExchange.head("/dci/tasks/" + queue, port);
    String task = "{\"command\":\"echo 0123456789\"}";
    body = Ascii.bytes("[" + String.join(",", Collections.nCopies(BATCH, task)) + "]");
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
