"""Surveys: in which category is your answer?"""
