package io.millrace.bench;

import java.nio.ByteBuffer;

/**
 * Three requests to an endpoint that gives back what it was sent, counted as one lifecycle: what
 * the HTTP server can do at most.
 */
final class EchoConversation implements Conversation {
  private final byte[] head;
  private final byte[] body;
  private int asked;

  EchoConversation(int port, int client) {
    head = HttpExchange.head(BenchServer.ECHO, port);
    body =
        Ascii.bytes(
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
