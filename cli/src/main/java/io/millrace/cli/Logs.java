package io.millrace.cli;

import java.util.logging.LogManager;
import org.slf4j.bridge.SLF4JBridgeHandler;

/** What is logged: warnings, and for a server how it is doing. */
final class Logs {
  private Logs() {}

  /** Call it before anything logs. */
  static void configure(String[] args) {
    boolean serves = args.length > 0 && (args[0].equals("up") || args[0].equals("node"));
    if (System.getProperty("millrace.log") == null) {
      System.setProperty("millrace.log", serves ? "INFO" : "WARN");
    }
    if (serves) {
      LogManager.getLogManager().reset();
      SLF4JBridgeHandler.install();
    }
  }
}
