package io.millrace.cli.remote;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** Keys and self-signed certificates of servers at 127.0.0.1. */
public final class Certificates {
  private static final String PASSWORD = "only for this test";

  private final Path folder;

  /** In an empty folder. */
  public Certificates(Path folder) {
    this.folder = folder;
  }

  /** Creates a key and its certificate, and returns the file of the certificate. */
  public Path make(String name) throws IOException, InterruptedException {
    Path file = folder.resolve(name + ".pem");
    keytool(name, "-genkeypair -keyalg EC -dname CN=test -ext san=ip:127.0.0.1 -validity 2");
    keytool(name, "-exportcert -rfc -file " + file);
    return file;
  }

  private Path keys(String name) {
    return folder.resolve(name + ".p12");
  }

  private void keytool(String name, String arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of(arguments.split(" ")));
    command.addAll(List.of("-alias", name, "-storetype", "PKCS12", "-storepass", PASSWORD));
    command.addAll(List.of("-keystore", keys(name).toString()));
    Path log = folder.resolve("keytool.log");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    if (process.waitFor() != 0) {
      throw new AssertionError(Files.readString(log));
    }
  }

  /** The TLS context of a server with that key. */
  public SSLContext server(String name) throws IOException, GeneralSecurityException {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream file = Files.newInputStream(keys(name))) {
      keys.load(file, PASSWORD.toCharArray());
    }
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(keys, PASSWORD.toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    return context;
  }
}
