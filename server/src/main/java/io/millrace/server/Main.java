package io.millrace.server;

import io.millrace.server.config.Configuration;
import io.millrace.store.StoreException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.bridge.SLF4JBridgeHandler;

/**
 * Runs a server until the process is told to end: {@code [--config FILE] [--KEY VALUE]…}, where KEY
 * is a whole key of the configuration, as {@code --server.port 8048}.
 */
final class Main {
  private static final int CANNOT_START = 2;

  private Main() {}

  public static void main(String[] arguments) {
    SLF4JBridgeHandler.removeHandlersForRootLogger();
    SLF4JBridgeHandler.install();
    try {
      MillraceServer server = MillraceServer.start(read(arguments));
      Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(server::close));
      System.out.println("ready on port " + server.port());
    } catch (ServerException | StoreException e) {
      System.err.println("millrace: " + e.getMessage());
      System.exit(CANNOT_START);
    }
  }

  static Configuration read(String[] arguments) {
    Path file = null;
    Map<String, String> flags = new LinkedHashMap<>();
    for (int i = 0; i < arguments.length; i += 2) {
      if (!arguments[i].startsWith("--") || i + 1 == arguments.length) {
        throw new ServerException("expected --KEY VALUE, found " + arguments[i]);
      }
      String key = arguments[i].substring(2);
      if (key.equals("config")) {
        file = Path.of(arguments[i + 1]);
      } else {
        flags.put(key, arguments[i + 1]);
      }
    }
    return Configuration.read(MillraceServer.SECTIONS, file, flags);
  }
}
