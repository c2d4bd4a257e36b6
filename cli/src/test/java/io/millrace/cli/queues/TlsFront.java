package io.millrace.cli.queues;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;

/** A proxy that speaks TLS before a server that does not. */
final class TlsFront implements AutoCloseable {
  private static final String PASSWORD = "only for this test";

  private final SSLServerSocket listening;
  private final int behind;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();

  /**
   * Listens.
   *
   * @param keys what {@link #makeKeys} made
   * @param behind the port of the server
   */
  TlsFront(Path keys, int behind) throws IOException, GeneralSecurityException {
    this.behind = behind;
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream file = Files.newInputStream(keys)) {
      store.load(file, PASSWORD.toCharArray());
    }
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(store, PASSWORD.toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    listening =
        (SSLServerSocket)
            context
                .getServerSocketFactory()
                .createServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  /** Makes a key for this machine, and {@code certificate} for those who are to trust it. */
  static Path makeKeys(Path folder, String name, Path certificate)
      throws IOException, InterruptedException {
    Path keys = folder.resolve(name + ".p12");
    keytool(
        keys, "-genkeypair -alias it -keyalg EC -dname CN=test -ext san=ip:127.0.0.1 -validity 2");
    keytool(keys, "-exportcert -alias it -rfc -file " + certificate);
    return keys;
  }

  private static void keytool(Path keys, String arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of(arguments.split(" ")));
    command.addAll(List.of("-storetype", "PKCS12", "-keystore", keys.toString()));
    command.addAll(List.of("-storepass", PASSWORD));
    Path log = keys.resolveSibling("keytool.log");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    assertThat(process.waitFor()).as(Files.readString(log)).isZero();
  }

  String address() {
    return "https://127.0.0.1:" + listening.getLocalPort();
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket outer = listening.accept();
        Socket inner = new Socket(InetAddress.getLoopbackAddress(), behind);
        open.add(outer);
        open.add(inner);
        pipe(outer, inner);
        pipe(inner, outer);
      } catch (IOException e) {
        // Closed, or somebody who has gone.
      }
    }
  }

  private static void pipe(Socket from, Socket to) {
    Thread.ofVirtual()
        .start(() -> {
          try (from;
              to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            in.transferTo(out);
          } catch (IOException e) {
            // Either side has closed it, or does not trust the other.
          }
        });
  }

  @Override
  public void close() throws IOException {
    listening.close();
    for (Socket socket : open) {
      socket.close();
    }
  }
}
