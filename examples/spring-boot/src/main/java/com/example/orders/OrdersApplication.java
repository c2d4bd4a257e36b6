package com.example.orders;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Takes orders over HTTP, and confirms each of them by a job. */
@SpringBootApplication
public class OrdersApplication {
  public static void main(String[] arguments) {
    SpringApplication.run(OrdersApplication.class, arguments);
  }
}
