package io.millrace.server.crash;

import io.millrace.server.MillraceServer;
import io.millrace.server.config.Configuration;
import java.util.HashMap;
import java.util.Map;

/** Runs a server until the process is killed: {@code KEY VALUE…} are keys of the configuration. */
final class ServerMain {
  private ServerMain() {}

  public static void main(String[] arguments) {
    Map<String, String> given = new HashMap<>();
    for (int i = 0; i < arguments.length; i += 2) {
      given.put(arguments[i], arguments[i + 1]);
    }
    MillraceServer server =
        MillraceServer.start(Configuration.read(MillraceServer.SECTIONS, null, given));
    System.out.println("ready on port " + server.port());
  }
}
