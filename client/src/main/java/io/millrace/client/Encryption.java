package io.millrace.client;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** TLS over a connected socket: whom to trust, and that it is the host that was asked for. */
final class Encryption {
  private final SSLSocketFactory sockets;

  Encryption(SSLContext context) {
    sockets = context.getSocketFactory();
  }

  /**
   * A context that trusts the certificates in a file, and nobody else.
   *
   * @param certificates PEM or DER; null for the authorities that the JVM trusts
   * @throws IllegalArgumentException when the file cannot be read or holds no certificates
   */
  static SSLContext trusting(@Nullable Path certificates) {
    try {
      return certificates == null ? SSLContext.getDefault() : trustingFile(certificates);
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalArgumentException(
          "cannot read the certificates in " + certificates + ": " + e, e);
    }
  }

  private static SSLContext trustingFile(Path certificates)
      throws IOException, GeneralSecurityException {
    try (InputStream file = Files.newInputStream(certificates)) {
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      for (Certificate one : CertificateFactory.getInstance("X.509").generateCertificates(file)) {
        trusted.setCertificateEntry("trusted-" + trusted.size(), one);
      }
      if (trusted.size() == 0) {
        throw new IllegalArgumentException("there is no certificate in " + certificates);
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    }
  }

  /**
   * Shakes hands with the server on {@code socket}.
   *
   * @throws UntrustedException when it is not the server that was asked for, or speaks no TLS
   * @throws IOException when the connection breaks
   */
  Socket over(Socket socket, String host, int port, int timeoutMillis) throws IOException {
    SSLSocket encrypted = (SSLSocket) sockets.createSocket(socket, host, port, true);
    SSLParameters parameters = encrypted.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    encrypted.setSSLParameters(parameters);
    encrypted.setSoTimeout(timeoutMillis);
    try {
      encrypted.startHandshake();
      return encrypted;
    } catch (SSLException e) {
      for (Throwable cause = e; cause != null; cause = cause.getCause()) {
        if (cause instanceof CertificateException) {
          throw new UntrustedException(
              "the certificate of " + host + ":" + port + " is not trusted: " + cause.getMessage(),
              e);
        }
      }
      if (e.getClass() == SSLException.class) {
        throw new UntrustedException(
            host + ":" + port + " does not speak TLS as it should: " + e.getMessage(), e);
      }
      throw e;
    }
  }
}
