package io.millrace.server;

import java.net.http.WebSocket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Keeps the messages that come over a WebSocket, and how it is closed. */
public final class Heard implements WebSocket.Listener {
  public final BlockingQueue<String> messages = new LinkedBlockingQueue<>();
  private final StringBuilder text = new StringBuilder();

  @Override
  public CompletionStage<?> onText(WebSocket socket, CharSequence part, boolean last) {
    text.append(part);
    if (last) {
      messages.add(text.toString());
      text.setLength(0);
    }
    return WebSocket.Listener.super.onText(socket, part, last);
  }

  @Override
  public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
    messages.add("closed " + code);
    return WebSocket.Listener.super.onClose(socket, code, reason);
  }

  /** The next message; {@code closed CODE} at the end. */
  public String next() throws InterruptedException {
    return String.valueOf(messages.poll(30, TimeUnit.SECONDS));
  }
}
