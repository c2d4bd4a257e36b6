package io.millrace.cli;

import java.util.Set;
import java.util.logging.LogManager;
import org.slf4j.bridge.SLF4JBridgeHandler;

/** What is logged: warnings, and how a process is doing that serves until it is stopped. */
final class Logs {
  private static final Set<String> SERVING = Set.of("up", "node", "worker", "member");

  private Logs() {}

  /** Call it before anything logs. */
  static void configure(String[] args) {
    boolean serves = args.length > 0 && SERVING.contains(args[0]);
    if (System.getProperty("millrace.log") == null) {
      System.setProperty("millrace.log", serves ? "INFO" : "WARN");
    }
    if (serves) {
      LogManager.getLogManager().reset();
      SLF4JBridgeHandler.install();
    }
  }
}
