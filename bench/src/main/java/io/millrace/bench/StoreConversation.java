package io.millrace.bench;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;

/** Lifecycles over the store's HTTP API, one task or several in each request. */
final class StoreConversation implements Conversation {
  private static final byte[] ID = Ascii.bytes("\"id\":");

  private final int batch;
  private final byte[] updateHead;
  private final byte[] claimHead;
  private final byte[] add;
  private final byte[] claim;
  private final byte[] deleteBegin;
  private final long[] claimed;
  private Step step = Step.ADD;
  private int ended;

  /**
   * A conversation of a client.
   *
   * @param client its id
   * @param batch the number of tasks in a request
   */
  StoreConversation(int port, int client, int batch) {
    this.batch = batch;
    updateHead = HttpExchange.head("/store/update", port);
    claimHead = HttpExchange.head("/store/claim", port);
    String task =
        "{\"group\":\"" + Lifecycle.GROUP + "\",\"data\":\"" + Lifecycle.DATA.utf8() + "\"}";
    add =
        Ascii.bytes(
            "{\"clientid\":"
                + client
                + ",\"adds\":["
                + String.join(",", Collections.nCopies(batch, task))
                + "]}");
    claim =
        Ascii.bytes(
            "{\"clientid\":"
                + client
                + ",\"group\":\""
                + Lifecycle.GROUP
                + "\",\"duration\":600000"
                + (batch == 1 ? "}" : ",\"count\":" + batch + "}"));
    deleteBegin = Ascii.bytes("{\"clientid\":" + client + ",\"deletes\":[");
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
    return Ascii.bytes(text.append("]}").toString());
  }

  @Override
  public boolean hear(ByteBuffer received) {
    ByteBuffer body = HttpExchange.hear(received);
    if (body == null) {
      return false;
    }
    ended = step == Step.DELETE ? batch : 0;
    if (step == Step.CLAIM) {
      readIds(body);
    }
    step = step.next();
    return true;
  }

  private void readIds(ByteBuffer body) {
    int at = 0;
    for (int i = 0; i < batch; i++) {
      at = Ascii.find(body, at, ID);
      if (at < 0) {
        throw new BenchException(
            "a claim gave " + i + " tasks instead of " + batch + ": " + Ascii.show(body));
      }
      at += ID.length;
      claimed[i] = Ascii.number(body, at);
    }
  }

  @Override
  public int ended() {
    return ended;
  }
}
